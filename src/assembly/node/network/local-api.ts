/** Where pods reach the API on a machine without rules for Services: a port of loopback, the same for all starts. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { readIfThere, writeWhole } from '../../../base/files/own/files.ts';
import type { Random } from '../../../base/random.ts';
import type { ApiServerAddress } from '../../../node/agent/objects.ts';

const FILE = 'local-api-port';
/** Each server has a certificate for it. */
const HOST = '127.0.0.1';

/** Below node ports, and below the ports that the kernel gives to connections. */
const PORTS = { first: 20_000, count: 10_000 };
const MAX_TRIES = 20;

/** Resolves with undefined for root, whose pods may have a network without this loopback address. */
export async function localApiAddress(directory: string, random: Random): Promise<ApiServerAddress | undefined> {
  if (process.getuid?.() === 0) return undefined;
  const file = join(directory, FILE);
  const kept = Number((await readIfThere(file)) ?? Number.NaN);
  // Containers that run were given this one.
  if (Number.isInteger(kept) && kept > 0 && kept < 65_536) return { host: HOST, port: kept };
  const port = await freePort(random);
  await writeWhole(file, `${port}\n`);
  return { host: HOST, port };
}

async function freePort(random: Random): Promise<number> {
  for (let tries = 1; ; tries++) {
    const port = PORTS.first + random.int(PORTS.count);
    if (tries === MAX_TRIES || (await isFree(port))) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, HOST);
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
