/** Opens ports, and explains in one line why one cannot be opened. */
import { createServer } from 'node:net';
import { ListenError } from '../../assembly/control-plane/listen-error.ts';
import type { Random } from '../../base/random.ts';
import { CliError } from '../output/cli-error.ts';

interface Address {
  readonly host: string;
  readonly port: number;
  /** The flags that chose them. */
  readonly hostFlag?: string;
  readonly portFlag?: string;
  /** Flags that chose further ports that are listened on meanwhile. */
  readonly portFlags?: Readonly<Record<number, string>>;
}

/** Below the ports that systems give to outgoing connections, and below those of Services: programs that connect take none. */
const FIRST_FREE_PORT = 16_384;
const LAST_FREE_PORT = 29_999;
const MAX_ATTEMPTS = 100;

/**
 * Returns a port that is free now, and that nobody is likely to take before it is listened on. The system's own choice would
 * be among the ports of outgoing connections, which a busy machine uses by the thousand.
 */
export async function freePort(host: string, random: Random): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const port = FIRST_FREE_PORT + random.int(LAST_FREE_PORT - FIRST_FREE_PORT + 1);
    try {
      await checkFree({ host, port });
      return port;
    } catch (error) {
      const { cause } = error as { cause?: NodeJS.ErrnoException };
      if (cause?.code !== 'EADDRINUSE' || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/** Rejects when the address cannot be listened on now. */
export function checkFree(address: Address): Promise<void> {
  const { host, port } = address;
  return new Promise((resolve, reject) => {
    const listener = createServer();
    listener.once('error', (error) => reject(explained(error, address)));
    listener.listen({ host, port, exclusive: true }, () => listener.close(() => resolve()));
  });
}

/** Runs `listen`, which listens on this address, or rejects with a ListenError that names another. */
export async function explainListening<T>(address: Address, listen: () => Promise<T>): Promise<T> {
  try {
    return await listen();
  } catch (error) {
    if (error instanceof ListenError) throw explained(error.cause, { ...address, ...error.address });
    throw explained(error, address);
  }
}

function explained(error: unknown, address: Address): unknown {
  const { host, port, hostFlag = '--bind-address', portFlags } = address;
  const portFlag = portFlags?.[port] ?? address.portFlag ?? '--port';
  const options = { cause: error };
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new CliError(`port ${port} on ${host} is used by another program; choose one with ${portFlag}`, options);
    case 'EACCES':
      return new CliError(`no permission to listen on port ${port}; choose one above 1023 with ${portFlag}`, options);
    case 'EADDRNOTAVAIL':
      return new CliError(`${host} is not an address of this machine; choose one with ${hostFlag}`, options);
    default:
      return error;
  }
}
