/** Traffic of the interfaces of a pod, from /proc. */
import { readFileSync, readlinkSync } from 'node:fs';
import type { InterfaceUsage, TrafficCounters } from '../runtime/usage.ts';

/** A line of /proc/net/dev has eight counters for each direction. */
const COUNTERS = 8;

/** Reads the text of /proc/net/dev. The loopback interface is left out, as cAdvisor does. */
export function parseInterfaces(text: string): InterfaceUsage[] {
  return text.split('\n').flatMap((line) => {
    const [, name, rest] = /^\s*([^\s:]+):(.*)$/.exec(line) ?? [];
    const counters = rest?.trim().split(/\s+/).map(Number) ?? [];
    if (name === undefined || name === 'lo' || counters.length < 2 * COUNTERS) return [];
    return [{ interface: name, received: counted(counters), sent: counted(counters.slice(COUNTERS)) }];
  });
}

function counted([bytes = 0, packets = 0, errors = 0, dropped = 0]: readonly number[]): TrafficCounters {
  return { bytes, packets, errors, dropped };
}

/** Reads the traffic of a process's network. Undefined when it has ended, or has the network of this process. */
export function networkOf(pid: number, proc = '/proc'): InterfaceUsage[] | undefined {
  try {
    if (readlinkSync(`${proc}/${pid}/ns/net`) === readlinkSync(`${proc}/self/ns/net`)) return undefined;
    return parseInterfaces(readFileSync(`${proc}/${pid}/net/dev`, 'utf8'));
  } catch {
    return undefined;
  }
}
