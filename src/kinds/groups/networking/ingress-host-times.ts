/**
 * Since when an Ingress names its hosts. A host belongs to who has named it first; an old Ingress that is changed to name another host
 * must not count as old for that one. The server writes it into an annotation, and lets nobody else do so.
 */
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import type { HookContext } from '../../kind.ts';

interface NamesHosts {
  readonly metadata: {
    readonly creationTimestamp?: string | null | undefined;
    readonly annotations?: Readonly<Record<string, string>> | undefined;
  };
  readonly spec?:
    | {
        readonly rules?: readonly { readonly host?: string | undefined }[] | undefined;
        readonly defaultBackend?: unknown;
        readonly ingressClassName?: string | undefined;
      }
    | undefined;
}

interface Written extends NamesHosts {
  readonly metadata: NamesHosts['metadata'] & { annotations?: Record<string, string> };
}

/** Hosts that were added since the object was created, by the time at which they were: `{"TIME": ["HOST"]}`. */
const HOST_TIMES_ANNOTATION = 'networking.kubernetes.io/hosts-since';
/** The deprecated way to choose the class. */
export const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';
/** Stands for all hosts: rules without a host, and default backends. */
export const ALL_HOSTS = '';

/** Stands for all hosts of an Ingress that has too many to list. */
const EVERY_HOST = '*';
const MAX_LISTED_CHARACTERS = 64 * 1024;

/** Returns what says since when an Ingress names a host, in seconds of RFC 3339. */
export function hostTimes(ingress: NamesHosts): (host: string) => string {
  const creationTimestamp = ingress.metadata.creationTimestamp ?? '';
  const listed = listedTimes(ingress);
  if (listed.size === 0) return () => creationTimestamp;
  return (host) => listed.get(host) ?? listed.get(EVERY_HOST) ?? creationTimestamp;
}

/** Reports whether two states of an Ingress name their hosts since the same times. */
export function haveSameHostTimes(one: NamesHosts, other: NamesHosts): boolean {
  return textOf(one) === textOf(other);
}

/** A new object names its hosts since its creation. */
export function startHostTimes(ingress: Written): void {
  setText(ingress, undefined);
}

/** Hosts that both states name keep their times; with another class, all are new. */
export function keepHostTimes(ingress: Written, old: NamesHosts, { now }: Pick<HookContext, 'now'>): void {
  const before = classOf(ingress) === classOf(old) ? hostsOf(old) : new Set<string>();
  const timeBefore = hostTimes(old);
  const created = old.metadata.creationTimestamp;
  const byTime = new Map<string, string[]>();
  let characters = 0;
  let latest = '';
  for (const host of hostsOf(ingress)) {
    const time = before.has(host) ? timeBefore(host) : now;
    if (time === created) continue;
    getOrInsert(byTime, time, () => []).push(host);
    characters += host.length + time.length;
    if (time > latest) latest = time;
  }
  const listed = characters > MAX_LISTED_CHARACTERS ? { [latest]: [EVERY_HOST] } : Object.fromEntries(byTime);
  setText(ingress, byTime.size === 0 ? undefined : JSON.stringify(listed));
}

function hostsOf({ spec }: NamesHosts): Set<string> {
  const hosts = new Set((spec?.rules ?? []).map(({ host = ALL_HOSTS }) => host));
  if (spec?.defaultBackend !== undefined) hosts.add(ALL_HOSTS);
  return hosts;
}

function classOf({ metadata, spec }: NamesHosts): string | undefined {
  return metadata.annotations?.[CLASS_ANNOTATION] ?? spec?.ingressClassName;
}

function listedTimes(ingress: NamesHosts): Map<string, string> {
  const text = textOf(ingress);
  if (text === undefined) return new Map();
  const listed = JSON.parse(text) as Readonly<Record<string, readonly string[]>>;
  return new Map(Object.entries(listed).flatMap(([time, hosts]) => hosts.map((host) => [host, time] as const)));
}

function textOf({ metadata }: NamesHosts): string | undefined {
  return metadata.annotations?.[HOST_TIMES_ANNOTATION];
}

/** The annotations may be shared with another state of the object: they are replaced, not changed. */
function setText({ metadata }: Written, text: string | undefined): void {
  if (metadata.annotations?.[HOST_TIMES_ANNOTATION] === text) return;
  const { [HOST_TIMES_ANNOTATION]: _, ...others } = metadata.annotations ?? {};
  const annotations = text === undefined ? others : { ...others, [HOST_TIMES_ANNOTATION]: text };
  if (Object.keys(annotations).length > 0) metadata.annotations = annotations;
  else delete metadata.annotations;
}
