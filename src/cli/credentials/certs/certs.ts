/** `qd certs`: works on the data directory, so that it needs no running cluster. */
import { X509Certificate } from 'node:crypto';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { FORMER_KEYS } from '../../../assembly/keys/pki.ts';
import { isSharedBetweenServers, type Rotatable } from '../../../assembly/keys/rotatable.ts';
import { forgetFormer, rotate } from '../../../assembly/keys/rotate.ts';
import { changeSharedKeys, shareKeys } from '../../../assembly/keys/shared-keys.ts';
import { readIfThere } from '../../../base/files/own/files.ts';
import { silent } from '../../../base/log.ts';
import { systemRandom } from '../../../base/random.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { pemBlocks } from '../../../protocols/x509/pem.ts';
import { directoryOf } from '../../clusters/choice.ts';
import { keyFileOf } from '../../encryption/encryption.ts';
import type { KeysFlags } from '../../encryption/flags.ts';
import type { ClusterFlags } from '../../flags/cluster.ts';
import { CliError } from '../../output/cli-error.ts';
import { isConfirmed } from '../../output/confirm.ts';
import { print } from '../../output/print.ts';
import { table } from '../../output/table.ts';
import { withCluster } from '../../process/cluster-process.ts';
import { ROTATED_SIGNAL } from '../../process/signals.ts';
import { openSharedStore } from '../../up/store/open-for-command.ts';
import type { ForgetFlags } from './flags.ts';

const DAY_MS = 86_400_000;

const FILES = [
  ['authority', 'ca.crt'],
  ['serving', 'apiserver.crt'],
  ['admin', 'admin.crt'],
  ['front-proxy authority', 'front-proxy-ca.crt'],
  ['front-proxy', 'front-proxy-client.crt'],
] as const;

export async function showCerts(flags: ClusterFlags): Promise<void> {
  const directory = await pkiOf(flags);
  const rows = [['WHAT', 'SUBJECT', 'EXPIRES', 'DAYS LEFT']];
  for (const [what, file] of FILES) {
    const found = certificatesIn((await readIfThere(join(directory, file))) ?? '');
    if (found.length === 0) rows.push([what, '<created at the next start>', '', '']);
    for (const [index, each] of found.entries()) rows.push(rowOf(index === 0 ? what : `${what} (replaced)`, each));
  }
  print(...table(rows));
}

function certificatesIn(text: string): X509Certificate[] {
  return [...pemBlocks(text)].map(({ bytes }) => new X509Certificate(bytes));
}

function rowOf(what: string, certificate: X509Certificate): string[] {
  const expires = new Date(certificate.validTo);
  const left = Math.floor((expires.getTime() - systemClock.now()) / DAY_MS);
  return [what, certificate.subject.replaceAll('\n', ', '), expires.toISOString().slice(0, 10), String(left)];
}

/** Keys that servers on a shared store share are replaced in the store, where all of them see it. */
export async function rotateCerts(what: readonly Rotatable[], flags: KeysFlags): Promise<void> {
  const directory = await pkiOf(flags);
  const options = { clock: systemClock, random: systemRandom };
  await withCluster(await directoryOf(flags), async (pid) => {
    const shared = what.filter(isSharedBetweenServers);
    const isShared =
      shared.length > 0 &&
      (await changeShared(flags, pid, async (scratch) => {
        for (const each of shared) await rotate(each, { ...options, directory: scratch });
      }));
    const own = isShared ? what.filter((each) => !isSharedBetweenServers(each)) : what;
    for (const each of own) await rotate(each, { ...options, directory });
    if (pid !== undefined) process.kill(pid, ROTATED_SIGNAL);
    const when = pid === undefined ? 'the next start uses the new ones' : `process ${pid} uses the new ones now`;
    print(`rotated ${what.join(', ')}; ${when}`);
  });
}

export async function forgetCerts(flags: ForgetFlags): Promise<void> {
  const directory = await pkiOf(flags);
  const replaced = await replacedIn(directory);
  if (replaced.length > 0 && !flags.yes && !(await isForgetWanted(replaced))) throw new CliError('nothing was changed');
  await withCluster(await directoryOf(flags), async (pid) => {
    const isShared = await changeShared(flags, pid, forgetFormer);
    if (!isShared) await forgetFormer(directory);
    if (pid !== undefined) process.kill(pid, ROTATED_SIGNAL);
    print('only the current certificate authority and key are trusted now');
  });
}

/** Names what depends on authorities and keys that are still trusted although they were replaced. */
async function replacedIn(directory: string): Promise<readonly string[]> {
  const [, ...authorities] = certificatesIn((await readIfThere(join(directory, 'ca.crt'))) ?? '');
  const keys = [...pemBlocks((await readIfThere(join(directory, FORMER_KEYS))) ?? '')];
  return [
    ...authorities.map(
      ({ subject }) =>
        `nodes of qd agent and holders of kubeconfigs whose certificate is of the authority ${subject}, until they get a new one`,
    ),
    ...(keys.length > 0 ? ['tokens of service accounts that a replaced key has signed'] : []),
  ];
}

async function isForgetWanted(replaced: readonly string[]): Promise<boolean> {
  const rejected = `the cluster will reject ${replaced.join(', and ')}`;
  if (!process.stdin.isTTY) throw new CliError(`${rejected}; confirm with --yes`);
  return isConfirmed(`With this, ${rejected}. Go on?`);
}

/** Changes the keys in a shared store. Resolves with whether the store is shared. */
async function changeShared(
  flags: KeysFlags,
  pid: number | undefined,
  change: (directory: string) => Promise<void>,
): Promise<boolean> {
  const directory = await directoryOf(flags);
  const store = await openSharedStore(directory, await keyFileOf(flags));
  if (!store) return false;
  try {
    await changeSharedKeys(store, directory, change);
    const tools = { clock: systemClock, random: systemRandom, log: silent };
    // Otherwise the running server adopts them.
    if (pid === undefined) await shareKeys({ ...tools, store, directory: join(directory, 'pki') });
    return true;
  } finally {
    await store.close();
  }
}

async function pkiOf(flags: ClusterFlags): Promise<string> {
  const directory = join(await directoryOf(flags), 'pki');
  await access(directory).catch((cause) => {
    if (cause.code === 'EACCES') throw cause;
    throw new CliError(`${directory} does not exist: there is no cluster here; choose one with --name or --data-dir`, {
      cause,
    });
  });
  return directory;
}
