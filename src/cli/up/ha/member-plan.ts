/** The member of etcd that `--ha` asks for, and the settings of the store that follow from it. */
import { reachableAddress } from '../../../assembly/addresses.ts';
import { clientUrl, type MemberAddress } from '../../../assembly/etcd/configuration.ts';
import type { MemberPlan } from '../../../assembly/etcd/member.ts';
import { memberPaths } from '../../../assembly/etcd/paths.ts';
import { type Flag, longName, propertyOf } from '../../../base/flag.ts';
import { machineName } from '../../flags/machine-name.ts';
import { CliError } from '../../output/cli-error.ts';
import { STOP_SIGNAL } from '../../process/signals.ts';
import { type Settings, upFlags } from '../flags.ts';
import type { GivenFlags, Remembered } from '../settings/settle.ts';

const CLIENT_PORT = 2_379;
const PEER_PORT = 2_380;

/** Flags that mean nothing without `--ha`. */
const NEEDING: readonly string[] = ['serverName', 'etcdPort', 'etcdPeerPort'];
/** Flags of an etcd that somebody else runs. */
const OF_OTHER_ETCD: readonly string[] = ['etcdServers', 'etcdCafile', 'etcdCertfile', 'etcdKeyfile'];

/** Adds the store on the server's own etcd to the flags. Throws when they do not go together. */
export function withOwnEtcd(given: GivenFlags, remembered: Remembered, directory: string): GivenFlags {
  if (!(given.ha ?? remembered.ha)) {
    rejectGiven(given, NEEDING, (name) => `${name} needs --ha`);
    return given;
  }
  rejectGiven(given, OF_OTHER_ETCD, (name) => `--ha runs an etcd of its own: leave out ${name}`);
  if (given.store !== undefined && given.store !== 'etcd') {
    throw new CliError(`--ha keeps objects in etcd: leave out --store ${given.store}`);
  }
  if (remembered.store === 'etcd' && !remembered.ha) {
    throw new CliError(
      'the objects of this cluster are in an etcd that qd does not run: qd store migrate --to etcd --ha moves them, and --ha needs another --data-dir',
    );
  }
  const settings = {
    bindAddress: given.bindAddress ?? remembered.bindAddress ?? '127.0.0.1',
    etcdPort: given.etcdPort ?? remembered.etcdPort ?? CLIENT_PORT,
    etcdPeerPort: given.etcdPeerPort ?? remembered.etcdPeerPort ?? PEER_PORT,
    serverName: given.serverName ?? remembered.serverName ?? machineName(),
  };
  const paths = memberPaths(directory);
  return {
    ...given,
    ...settings,
    ha: true,
    store: 'etcd',
    etcdServers: [clientUrl(addressOf(settings))],
    etcdCafile: paths.authority,
    etcdCertfile: paths.certificate,
    etcdKeyfile: paths.key,
  };
}

/** The member that the settings of a start ask for; undefined: none. */
export function memberPlan(settings: Settings): MemberPlan | undefined {
  const { ha, serverName, bindAddress, etcdPort, etcdPeerPort } = settings;
  if (!ha || serverName === undefined || etcdPort === undefined || etcdPeerPort === undefined) return undefined;
  return {
    name: serverName,
    address: addressOf({ bindAddress, etcdPort, etcdPeerPort }),
    removed: stopWithoutStore,
  };
}

const MAX_STOP_MS = 10_000;

/** Stops the program. Without its store, it cannot take leave of the cluster, and waits for no answer of it. */
export function stopWithoutStore(): void {
  setTimeout(() => process.exit(1), MAX_STOP_MS).unref();
  process.kill(process.pid, STOP_SIGNAL);
}

function addressOf(settings: Required<Pick<Settings, 'bindAddress' | 'etcdPort' | 'etcdPeerPort'>>): MemberAddress {
  const { bindAddress, etcdPort: clientPort, etcdPeerPort: peerPort } = settings;
  return { host: reachableAddress(bindAddress, '127.0.0.0/8'), clientPort, peerPort };
}

function rejectGiven(given: GivenFlags, names: readonly string[], message: (flag: string) => string): void {
  const values = given as Readonly<Record<string, unknown>>;
  const found = upFlags.find(
    (flag: Flag) => names.includes(propertyOf(flag)) && values[propertyOf(flag)] !== undefined,
  );
  if (found) throw new CliError(message(longName(found)));
}
