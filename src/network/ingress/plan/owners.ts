/**
 * Finds which namespace owns each host: that of the Ingress that has named it first. Otherwise, users who may write Ingresses in one
 * namespace could take over paths of another one's host. Pure.
 */
import type { DividedWork, Pace } from '../../../base/event-loop/in-turns.ts';
import { ALL_HOSTS } from '../../../kinds/groups/networking/ingress-host-times.ts';
import { type IngressProblem, type IngressRules, namespaceOf, type RulesByName } from './rules.ts';

export interface HostOwners {
  /** Namespaces by host. Empty when namespaces share hosts. */
  readonly owners: ReadonlyMap<string, string>;
  /** Hosts that Ingresses name although they are another namespace's. */
  readonly problems: readonly IngressProblem[];
}

/** Limit for one Ingress, which may name thousands of hosts. */
const MAX_PROBLEMS = 5;

export function* hostOwners(rules: RulesByName, isShared: boolean, pace: Pace): DividedWork<HostOwners> {
  const owners = new Map<string, string>();
  const problems: IngressProblem[] = [];
  if (isShared) return { owners, problems };
  const since = new Map<string, string>();
  for (const each of rules.values()) {
    for (const host of hostsOf(each)) {
      if (pace.isSpent()) yield;
      const time = each.since(host);
      const first = since.get(host);
      // Ties go to the first in order.
      if (first !== undefined && first <= time) continue;
      since.set(host, time);
      owners.set(host, namespaceOf(each));
    }
  }
  for (const each of rules.values()) {
    let count = 0;
    for (const host of hostsOf(each)) {
      if (pace.isSpent()) yield;
      const owner = owners.get(host)!;
      if (owner !== namespaceOf(each) && ++count <= MAX_PROBLEMS) problems.push(taken(each, host, owner));
    }
  }
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

function taken({ ingress }: IngressRules, host: string, namespace: string): IngressProblem {
  const what = host === ALL_HOSTS ? 'Requests for all other hosts belong' : `Host ${JSON.stringify(host)} belongs`;
  const owner = `namespace ${JSON.stringify(namespace)}`;
  const message = `${what} to ${owner}, which has named it first: the rules here are not served`;
  return { ingress, reason: 'HostTaken', message };
}
