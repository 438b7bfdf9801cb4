/** Lines about the ports of a start that other machines may reach. */
import { isLoopback } from '../../../assembly/addresses.ts';
import type { OpenPort } from '../../../assembly/context.ts';

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
