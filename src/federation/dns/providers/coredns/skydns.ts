/**
 * Records as SkyDNS keeps them in etcd: the key is the path of the name, from its last label to its first, and the value is JSON
 * with the address or name in `host`. A name with several values has a key below it for each. Names are those of provider.ts.
 */
import { createHash } from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';
import type { RecordSet, RecordType } from '../../provider.ts';

export interface SkyRecord {
  readonly key: string;
  readonly name: string;
  readonly type: RecordType;
  /** An address; of a CNAME an absolute name. */
  readonly value: string;
  readonly ttlSeconds: number;
}

/** TTL that CoreDNS uses for a value without one. */
const DEFAULT_TTL_SECONDS = 300;
/** The last label of keys that are written here: it stands for the value, and is not part of the name. */
const VALUE_LABEL = /^qd-[0-9a-f]{12}$/;

/** `/skydns/com/example/web` */
export function pathOf(prefix: string, name: string): string {
  return `/${[prefix, ...name.replace(/\.$/, '').split('.').reverse()].join('/')}`;
}

export function entriesOf(prefix: string, { name, values, ttlSeconds }: RecordSet): ReadonlyMap<string, string> {
  const path = pathOf(prefix, name);
  return new Map(
    values.map((value) => {
      const host = value.replace(/\.$/, '');
      const label = `qd-${createHash('sha256').update(host).digest('hex').slice(0, 12)}`;
      return [`${path}/${label}`, JSON.stringify({ host, ttl: ttlSeconds })];
    }),
  );
}

/** Returns the record of a key; undefined when it has no address and no name. Keys that others wrote are read, too. */
export function recordAt(prefix: string, key: string, value: string): SkyRecord | undefined {
  const labels = key.slice(prefix.length + 2).split('/');
  if (VALUE_LABEL.test(labels.at(-1) ?? '')) labels.pop();
  const name = `${labels.reverse().join('.')}.`.toLowerCase();
  const { host, ttl } = parsed(value);
  if (typeof host !== 'string' || host === '') return undefined;
  const type = isIPv4(host) ? 'A' : isIPv6(host) ? 'AAAA' : 'CNAME';
  const ttlSeconds = typeof ttl === 'number' && ttl > 0 ? ttl : DEFAULT_TTL_SECONDS;
  return { key, name, type, value: type === 'CNAME' ? `${host.replace(/\.$/, '')}.` : host, ttlSeconds };
}

/** Parses a value. CoreDNS ignores values that are not JSON. */
function parsed(value: string): { readonly host?: unknown; readonly ttl?: unknown } {
  try {
    return JSON.parse(value) ?? {};
  } catch {
    return {};
  }
}
