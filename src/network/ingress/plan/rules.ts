/** The rules of one Ingress, and those of all of them by host. Pure. */

import type { DeepReadonly } from '../../../api/object-types.ts';
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import { sameItems } from '../../../base/collections/same-items.ts';
import type { DividedWork, Pace } from '../../../base/event-loop/in-turns.ts';
import type { Ingress } from '../../../kinds/groups/networking/ingress.ts';
import { haveSameHostTimes, hostTimes } from '../../../kinds/groups/networking/ingress-host-times.ts';
import type { PathRule } from '../config.ts';
import { withoutSlashes } from '../proxy/match.ts';

export type SeenIngress = DeepReadonly<Ingress>;

export type IngressBackend = NonNullable<SeenIngress['spec']>['defaultBackend'];

export interface IngressRules {
  readonly ingress: SeenIngress;
  /** Sorts Ingresses, the oldest first. */
  readonly age: string;
  /** Since when it names a host. */
  readonly since: (host: string) => string;
  readonly hosts: ReadonlyMap<string, readonly PathRule[]>;
  /** Targets of the rules and of the default, by key. */
  readonly backends: ReadonlyMap<string, IngressBackend>;
  readonly defaultBackend: string | undefined;
}

/** The rules of Ingresses by name, those of the oldest first. */
export type RulesByName = ReadonlyMap<string, IngressRules>;

/** Rules of each host in the Ingresses, and merged into one list. */
export interface MergedHosts {
  readonly sources: ReadonlyMap<string, readonly (readonly PathRule[])[]>;
  readonly hosts: ReadonlyMap<string, readonly PathRule[]>;
}

/** Computes the rules of the Ingresses whose spec is another one than before. */
export function* rulesByAge(
  ingresses: readonly SeenIngress[],
  before: RulesByName | undefined,
  pace: Pace,
): DividedWork<RulesByName> {
  const all: IngressRules[] = [];
  for (const ingress of ingresses) {
    if (pace.isSpent()) yield;
    const known = before?.get(nameOf(ingress));
    all.push(known && hasSameSpec(known.ingress, ingress) ? known : yield* rulesOf(ingress, pace));
  }
  all.sort((a, b) => (a.age < b.age ? -1 : 1));
  return new Map(all.map((each) => [nameOf(each.ingress), each]));
}

interface MergeOptions {
  readonly before: MergedHosts | undefined;
  /** Reports whether rules of a namespace count for a host. */
  isServed(host: string, namespace: string): boolean;
}

/**
 * Merges the rules of each host. When two have the same path, the first one counts, and none of a namespace that does
 * not own the host. Hosts whose rules are the same keep their list.
 */
export function* mergedHosts(
  all: RulesByName,
  { before, isServed }: MergeOptions,
  pace: Pace,
): DividedWork<MergedHosts> {
  const sources = new Map<string, (readonly PathRule[])[]>();
  for (const each of all.values()) {
    for (const [host, rules] of each.hosts) {
      if (pace.isSpent()) yield;
      if (!isServed(host, namespaceOf(each))) continue;
      getOrInsert(sources, host, () => []).push(rules);
    }
  }
  const hosts = new Map<string, readonly PathRule[]>();
  let isKept = before?.hosts.size === sources.size;
  for (const [host, lists] of sources) {
    if (pace.isSpent()) yield;
    const known = sameItems(before?.sources.get(host), lists) ? before?.hosts.get(host) : undefined;
    if (!known) isKept = false;
    hosts.set(host, known ?? (yield* merged(lists, pace)));
  }
  return before && isKept ? before : { sources, hosts };
}

function* rulesOf(ingress: SeenIngress, pace: Pace): DividedWork<IngressRules> {
  const { metadata, spec } = ingress;
  const found = new Map<string, { readonly known: Set<string>; readonly rules: PathRule[] }>();
  const backends = new Map<string, IngressBackend>();
  const use = (backend: IngressBackend): string => {
    const key = keyOf(metadata.namespace ?? '', backend);
    if (!backends.has(key)) backends.set(key, backend);
    return key;
  };
  const defaultBackend = spec?.defaultBackend && use(spec.defaultBackend);
  for (const { host = '', http } of spec?.rules ?? []) {
    if (pace.isSpent()) yield;
    const { known, rules } = found.get(host) ?? { known: new Set(), rules: [] };
    found.set(host, { known, rules });
    for (const { path = '/', pathType, backend } of http?.paths ?? []) {
      if (pace.isSpent()) yield;
      const type = pathType === 'Exact' ? 'Exact' : 'Prefix';
      // Trimmed once, and not for every request.
      const rule: PathRule = {
        path: type === 'Exact' ? path : withoutSlashes(path) || '/',
        type,
        backend: use(backend),
      };
      if (known.has(identityOf(rule))) continue;
      known.add(identityOf(rule));
      rules.push(rule);
    }
  }
  const hosts = new Map<string, readonly PathRule[]>();
  for (const [host, { rules }] of found) hosts.set(host, rules);
  const age = `${metadata.creationTimestamp} ${metadata.namespace}/${metadata.name}`;
  return { ingress, age, since: hostTimes(ingress), hosts, backends, defaultBackend };
}

function* merged(lists: readonly (readonly PathRule[])[], pace: Pace): DividedWork<readonly PathRule[]> {
  if (lists.length === 1) return lists[0]!;
  const known = new Set<string>();
  const rules: PathRule[] = [];
  for (const list of lists) {
    for (const rule of list) {
      if (pace.isSpent()) yield;
      if (known.has(identityOf(rule))) continue;
      known.add(identityOf(rule));
      rules.push(rule);
    }
  }
  return rules;
}

const identityOf = ({ type, path }: PathRule) => `${type} ${path}`;

export const namespaceOf = ({ ingress }: IngressRules) => ingress.metadata.namespace ?? '';

const nameOf = ({ metadata }: SeenIngress) => `${metadata.namespace}/${metadata.name}`;

/** A change of labels or of the status leaves the generation as it is. */
function hasSameSpec(one: SeenIngress, other: SeenIngress): boolean {
  if (one === other) return true;
  const { uid, generation } = one.metadata;
  return (
    generation !== undefined &&
    generation === other.metadata.generation &&
    uid === other.metadata.uid &&
    haveSameHostTimes(one, other)
  );
}

function keyOf(namespace: string, backend: IngressBackend): string {
  const { name = '', port } = backend?.service ?? {};
  return `${namespace}/${name}:${port?.name || port?.number || ''}`;
}

/** Why a part of an Ingress is not served. Becomes an event. */
export interface IngressProblem {
  readonly ingress: SeenIngress;
  readonly reason: 'HostTaken' | 'ExternalNameNotAllowed' | 'ServiceNotFound' | 'ServicePortNotFound';
  readonly message: string;
}
