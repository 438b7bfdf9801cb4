/** Opens ports, and explains in one line why one cannot be opened. */
import { createServer } from 'node:net';
import { CliError } from '../output/cli-error.ts';

interface Address {
  readonly host: string;
  readonly port: number;
  /** The flags that chose them. */
  readonly hostFlag?: string;
  readonly portFlag?: string;
}

/** Returns a port that is free now. */
export function freePort(host: string): Promise<number> {
  return probe({ host, port: 0 });
}

/** Rejects when the address cannot be listened on now. */
export async function checkFree(address: Address): Promise<void> {
  await probe(address);
}

/** Listens on the address for a moment, and resolves with the port. */
function probe(address: Address): Promise<number> {
  const { host, port } = address;
  return new Promise((resolve, reject) => {
    const listener = createServer();
    listener.once('error', (error) => reject(explained(error, address)));
    listener.listen({ host, port, exclusive: true }, () => {
      const { port: chosen } = listener.address() as { port: number };
      listener.close(() => resolve(chosen));
    });
  });
}

/** Runs `listen`, which listens on this address. */
export async function explainListening<T>(address: Address, listen: () => Promise<T>): Promise<T> {
  try {
    return await listen();
  } catch (error) {
    throw explained(error, address);
  }
}

function explained(error: unknown, address: Address): unknown {
  const { host, port, hostFlag = '--bind-address', portFlag = '--port' } = address;
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
