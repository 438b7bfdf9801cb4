/** How etcd is reached, from the flags: its addresses, and the certificates for it. */
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import * as value from '../../flags/values.ts';
import { CliError } from '../../output/cli-error.ts';

export interface EtcdFlags {
  readonly etcdServers?: readonly string[];
  readonly etcdCafile?: string;
  readonly etcdCertfile?: string;
  readonly etcdKeyfile?: string;
}

export function withEtcdFlags(command: Command): Command {
  return command
    .option('--etcd-servers <urls>', 'addresses of etcd, for --store etcd', value.servers)
    .option('--etcd-cafile <file>', "whom etcd's certificates are from", absolute)
    .option('--etcd-certfile <file>', 'our own certificate for etcd, with --etcd-keyfile', absolute)
    .option('--etcd-keyfile <file>', 'the key of that certificate', absolute);
}

/** The directory remembers it, and the next start may be from another place. */
function absolute(file: string): string {
  return resolve(file);
}

/** What of the flags goes with etcd only, and with what else. */
export function checkEtcdFlags(flags: EtcdFlags, isUsed: boolean): void {
  const { etcdServers, etcdCafile, etcdCertfile, etcdKeyfile } = flags;
  const given = Object.entries({
    '--etcd-servers': etcdServers,
    '--etcd-cafile': etcdCafile,
    '--etcd-certfile': etcdCertfile,
    '--etcd-keyfile': etcdKeyfile,
  }).find(([, content]) => content !== undefined);
  if (given && !isUsed) throw new CliError(`${given[0]} needs --store etcd`);
  if ((etcdCertfile === undefined) !== (etcdKeyfile === undefined)) {
    throw new CliError('--etcd-certfile and --etcd-keyfile belong together');
  }
}

/** The content of the files; undefined where none is named. */
export async function etcdTls({ etcdCafile, etcdCertfile, etcdKeyfile }: EtcdFlags) {
  if (etcdCafile === undefined && etcdCertfile === undefined) return undefined;
  const [ca, cert, key] = await Promise.all([
    content('--etcd-cafile', etcdCafile),
    content('--etcd-certfile', etcdCertfile),
    content('--etcd-keyfile', etcdKeyfile),
  ]);
  return { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
}

async function content(flag: string, file: string | undefined): Promise<Buffer | undefined> {
  if (file === undefined) return undefined;
  try {
    return await readFile(file);
  } catch (cause) {
    throw new CliError(`${flag} ${file} cannot be read: ${(cause as Error).message}`, { cause });
  }
}
