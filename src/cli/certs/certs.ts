/** `qd certs`: works on the data directory, so that it needs no running cluster. */
import { X509Certificate } from 'node:crypto';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../base/clock.ts';
import { systemRandom } from '../../base/random.ts';
import { pemBlocks } from '../../base/x509/pem.ts';
import { type ClusterFlags, directoryOf } from '../flags/cluster.ts';
import { CliError } from '../output/cli-error.ts';
import { table } from '../output/table.ts';
import type { Rotatable } from '../pki/rotatable.ts';
import { forgetFormer, rotate } from '../pki/rotate.ts';
import { withCluster } from '../process/cluster-process.ts';
import { readIfThere } from '../process/files.ts';
import { ROTATED_SIGNAL } from '../process/signals.ts';

const DAY_MS = 86_400_000;

const FILES = [
  ['authority', 'ca.crt'],
  ['serving', 'apiserver.crt'],
  ['admin', 'admin.crt'],
] as const;

export async function showCerts(flags: ClusterFlags): Promise<void> {
  const directory = await pkiOf(flags);
  const rows = [['WHAT', 'SUBJECT', 'EXPIRES', 'DAYS LEFT']];
  for (const [what, file] of FILES) {
    const found = certificatesIn((await readIfThere(join(directory, file))) ?? '');
    if (found.length === 0) rows.push([what, '<created at the next start>', '', '']);
    for (const [index, each] of found.entries()) rows.push(rowOf(index === 0 ? what : `${what} (replaced)`, each));
  }
  for (const line of table(rows)) print(line);
}

function certificatesIn(text: string): X509Certificate[] {
  return [...pemBlocks(text)].map(({ bytes }) => new X509Certificate(bytes));
}

function rowOf(what: string, certificate: X509Certificate): string[] {
  const expires = new Date(certificate.validTo);
  const left = Math.floor((expires.getTime() - systemClock.now()) / DAY_MS);
  return [what, certificate.subject.replaceAll('\n', ', '), expires.toISOString().slice(0, 10), String(left)];
}

export async function rotateCerts(what: readonly Rotatable[], flags: ClusterFlags): Promise<void> {
  const directory = await pkiOf(flags);
  const options = { directory, clock: systemClock, random: systemRandom };
  const needsStop = what.filter((each) => each === 'authority' || each === 'service-account-key');
  await withCluster(flags, async (pid) => {
    if (pid !== undefined && needsStop.length > 0) {
      throw new CliError(`to rotate ${needsStop.join(' and ')}, stop the cluster (process ${pid}) first`);
    }
    for (const each of what) await rotate(each, options);
    if (pid !== undefined) process.kill(pid, ROTATED_SIGNAL);
    const when = pid === undefined ? 'the next start creates new ones' : `process ${pid} creates new ones`;
    print(`rotated ${what.join(', ')}; ${when}`);
  });
}

export async function forgetCerts(flags: ClusterFlags): Promise<void> {
  const directory = await pkiOf(flags);
  await withCluster(flags, async (pid) => {
    if (pid !== undefined) throw new CliError(`the cluster is running as process ${pid}; stop it first`);
    await forgetFormer(directory);
    print('only the current certificate authority and key are trusted now');
  });
}

async function pkiOf(flags: ClusterFlags): Promise<string> {
  const directory = join(directoryOf(flags), 'pki');
  await access(directory).catch((cause) => {
    throw new CliError(`${directory} does not exist: there is no cluster here; choose one with --name or --data-dir`, {
      cause,
    });
  });
  return directory;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
