/** Where an Ingress is reached: one entry for each server of the cluster. */
import { isDeepStrictEqual } from 'node:util';

export interface StatusEntry {
  readonly ip?: string;
  readonly ports?: readonly { readonly port: number; readonly protocol: string; readonly error?: string }[];
}

export interface Peers {
  /** Reports whether another server of the cluster has this address. */
  isAlive(ip: string): boolean;
  /** True when servers with the same address as this one keep their entries: they listen on other ports. */
  readonly sharesAddress: boolean;
}

/** Returns the entries of this server and of living ones; undefined when these are there already. */
export function statusEntries(
  current: readonly StatusEntry[],
  own: StatusEntry & { readonly ip: string },
  { isAlive, sharesAddress }: Peers,
): readonly StatusEntry[] | undefined {
  const isOwn = (entry: StatusEntry) => isDeepStrictEqual(entry, own);
  const isKept = ({ ip }: StatusEntry) => ip !== undefined && (ip === own.ip ? sharesAddress : isAlive(ip));
  const kept = current.filter((entry) => isOwn(entry) || isKept(entry));
  if (kept.some(isOwn)) return kept.length === current.length ? undefined : kept;
  return [...kept, own];
}
