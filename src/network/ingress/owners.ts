/**
 * Finds the namespace that owns each host: that of the oldest Ingress that names it. Otherwise, users who may write
 * Ingresses in one namespace could take over paths of another one's host. Pure.
 */
import type { DividedWork, Pace } from '../../base/event-loop/in-turns.ts';
import type { IngressProblem } from './problem.ts';
import { type IngressRules, namespaceOf, type RulesByName } from './rules.ts';

/** Stands for all hosts: rules without a host, and default backends. */
export const ALL_HOSTS = '';

export interface HostOwners {
  /** Namespaces by host. Empty when namespaces share hosts. */
  readonly owners: ReadonlyMap<string, string>;
  /** Hosts that Ingresses name although they are another namespace's. */
  readonly problems: readonly IngressProblem[];
}

/** Limit for one Ingress, which may name thousands of hosts. */
const MAX_PROBLEMS = 5;

export function* hostOwners(rules: RulesByName, isShared: boolean, pace: Pace): DividedWork<HostOwners> {
  const oldest = new Map<string, IngressRules>();
  const problems: IngressProblem[] = [];
  if (isShared) return { owners: new Map(), problems };
  for (const each of rules.values()) {
    let count = 0;
    for (const host of hostsOf(each)) {
      if (pace.isSpent()) yield;
      const first = oldest.get(host) ?? each;
      oldest.set(host, first);
      if (namespaceOf(first) !== namespaceOf(each) && ++count <= MAX_PROBLEMS) problems.push(taken(each, host, first));
    }
  }
  const owners = new Map<string, string>();
  for (const [host, first] of oldest) owners.set(host, namespaceOf(first));
  return { owners, problems };
}

/** Reports whether rules and certificates of a namespace count for a host. */
export function mayServe(owners: HostOwners['owners'], host: string, namespace: string): boolean {
  const owner = owners.get(host);
  return owner === undefined || owner === namespace;
}

function* hostsOf({ hosts, defaultBackend }: IngressRules): Generator<string> {
  yield* hosts.keys();
  if (defaultBackend !== undefined && !hosts.has(ALL_HOSTS)) yield ALL_HOSTS;
}

function taken({ ingress }: IngressRules, host: string, first: IngressRules): IngressProblem {
  const what = host === ALL_HOSTS ? 'Requests for all other hosts belong' : `Host ${JSON.stringify(host)} belongs`;
  const owner = `namespace ${JSON.stringify(namespaceOf(first))}`;
  const message = `${what} to ${owner}, which has an older Ingress for it: the rules here are not served`;
  return { ingress, reason: 'HostTaken', message };
}
