/** What a start listens on, for the list of what other machines may reach. */
import { addressForPods, isLoopback } from '../../../assembly/addresses.ts';
import type { ApiAddress, OpenPort } from '../../../assembly/context.ts';

/** Where the API is listened on. */
export function apiPorts({ bindAddress, port, forPods }: ApiAddress): readonly [OpenPort, ...OpenPort[]] {
  const address = forPods ? addressForPods(bindAddress) : undefined;
  const main = { address: bindAddress, port, what: 'API' };
  return address === undefined ? [main] : [main, { address, port, what: 'API, for pods' }];
}

/** A line for each port on an address that is not loopback. */
export function exposedLines(ports: readonly OpenPort[]): string[] {
  const exposed = ports.filter(({ address }) => !isLoopback(address));
  const rows = exposed.map(({ address, port, what }) => [
    `${address.includes(':') ? `[${address}]` : address}:${port}`,
    what,
  ]);
  const width = Math.max(0, ...rows.map(([where = '']) => where.length));
  return rows.map(([where = '', what]) => `${where.padEnd(width)}  ${what}`);
}
