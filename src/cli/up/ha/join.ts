/** `qd up --join`: what a new server asks the cluster for, before anything is created. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { askToJoin } from '../../../assembly/etcd/join/ask.ts';
import type { JoinBundle } from '../../../assembly/etcd/join/bundle.ts';
import { prepareJoin } from '../../../assembly/etcd/member.ts';
import { findEtcd } from '../../../assembly/etcd/program.ts';
import { keyFileIn } from '../../../assembly/store/encryption.ts';
import { checkRelease } from '../../../assembly/store/releases/check-release.ts';
import { readIfThere, writeWhole } from '../../../base/files/own/files.ts';
import { CliError } from '../../output/cli-error.ts';
import { ownRelease } from '../../process/version.ts';
import type { Directory } from '../directory/directory.ts';
import type { Settings } from '../flags.ts';
import type { GivenFlags } from '../settings/settle.ts';

export interface Joining {
  /** The flags, with those that follow from joining. */
  readonly flags: GivenFlags;
  readonly bundle: JoinBundle;
}

const HOW_TO_JOIN = 'on a server, qd token create --server prints the command';

/** Resolves with undefined when the start joins nothing. */
export async function askCluster(given: GivenFlags, directory: Directory, path: string): Promise<Joining | undefined> {
  const { join: server, token, caHash } = given;
  if (server === undefined) {
    if (token !== undefined || caHash !== undefined)
      throw new CliError(`--token and --ca-hash need --join; ${HOW_TO_JOIN}`);
    return undefined;
  }
  if (token === undefined || caHash === undefined)
    throw new CliError(`--join needs --token and --ca-hash; ${HOW_TO_JOIN}`);
  if (!directory.isNew) {
    throw new CliError(
      `${directory.path} is the data directory of a cluster: start it without --join, or choose another --data-dir`,
    );
  }
  await findEtcd(path);
  const bundle = await askToJoin({ server, token, caHash });
  if (bundle.releases) checkRelease(bundle.releases, ownRelease);
  const bindAddress = given.bindAddress ?? (await addressTowards(server));
  return { bundle, flags: { ...given, bindAddress, ha: true } };
}

/** Keeps what the cluster has answered, so that the next start needs no token. */
export async function keepJoin(bundle: JoinBundle, directory: string, settings: Settings): Promise<void> {
  const keyFile = settings.encryptionKeyFile ?? keyFileIn(directory);
  if ((await readIfThere(keyFile)) === undefined) await writeWhole(keyFile, bundle.encryptionKey);
  await prepareJoin(directory, bundle);
}

/** The address of this machine that the way to a server begins at. */
async function addressTowards(server: string): Promise<string> {
  const { hostname, port } = new URL(server);
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 443) });
  try {
    await once(socket, 'connect');
    return socket.localAddress ?? '';
  } finally {
    socket.destroy();
  }
}
