/** Opens the ports, and says in one line why one cannot be opened. */
import { createServer } from 'node:net';
import { CliError } from '../output/cli-error.ts';

/** A port that is free now: who gives 0 wants any, and others have to be told which before it is opened. */
export function freePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error) => reject(explained(error, host, 0)));
    probe.listen(0, host, () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}

/** Runs `open`, which listens on this address and port. */
export async function opening<T>(host: string, port: number, flag: string, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    throw explained(error, host, port, flag);
  }
}

function explained(error: unknown, host: string, port: number, flag = '--port'): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new CliError(`port ${port} on ${host} is taken by another program; choose one with ${flag}`, {
        cause: error,
      });
    case 'EACCES':
      return new CliError(`no right to listen on port ${port}; choose one above 1023 with ${flag}`, { cause: error });
    case 'EADDRNOTAVAIL':
      return new CliError(`${host} is not an address of this machine; choose one with --bind-address`, {
        cause: error,
      });
    default:
      return error;
  }
}
