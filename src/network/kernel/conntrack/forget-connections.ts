/**
 * Forgets connections that conntrack would send to destinations that are gone: perl, which every Debian has, asks the kernel over
 * netlink. Tested with Linux 6.1 and 6.18.
 */

import { programText } from '../../../base/programs/program-text.ts';
import type { StaleConnections } from '../kernel.ts';
import { address, portNumber } from '../values.ts';

/** The input of the program: a line for each address, with the destinations that may stay. Throws for other text. */
export function forgetInput(connections: readonly StaleConnections[]): string {
  return connections
    .map(({ address: to, port, keep }) =>
      [to === undefined ? '*' : address(to), portNumber(port), ...keep.map(destination)].join(' '),
    )
    .map((line) => `${line}\n`)
    .join('');
}

function destination(text: string): string {
  const [to = '', port = '', ...rest] = text.split(' ');
  if (rest.length > 0) throw new Error(`${JSON.stringify(text)} is not an address and a port`);
  return `${address(to)},${portNumber(Number(port))}`;
}

/** Reads that input. */
export const FORGET_PROGRAM = programText(new URL('./forget-connections.pl', import.meta.url));
