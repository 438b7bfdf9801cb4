/** Calls the server that runs the cluster of a data directory, as its administrator. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { serverUrl } from '../../assembly/addresses.ts';
import { fetchJson } from '../../assembly/control-plane/fetch-json.ts';
import { pemOf, readIdentity } from '../../assembly/keys/pki.ts';
import { CliError } from '../output/cli-error.ts';
import { rememberedIn } from '../up/directory/directory.ts';

const TIMEOUT_MS = 30_000;

interface CallOptions {
  readonly method?: 'GET' | 'POST';
  readonly timeoutMs?: number;
}

/** Settings are read anew for each call: where the program listens may change. */
export async function callOwnServer(
  directory: string,
  path: string,
  { method = 'GET', timeoutMs = TIMEOUT_MS }: CallOptions = {},
): Promise<unknown> {
  const { bindAddress = '127.0.0.1', port = 0 } = await rememberedIn(directory);
  const pki = join(directory, 'pki');
  const [ca, admin] = await Promise.all([readFile(join(pki, 'ca.crt'), 'utf8'), readIdentity(pki, 'admin')]);
  if (!admin) throw new CliError(`${pki} has no certificate of the administrator`);
  const url = new URL(path, serverUrl(bindAddress, port)).href;
  return fetchJson(url, { ca, cert: admin.certificate, key: pemOf(admin.key), method, timeoutMs });
}
