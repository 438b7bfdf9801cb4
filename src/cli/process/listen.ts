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
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error) => reject(explained(error, { host, port: 0 })));
    probe.listen(0, host, () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
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
