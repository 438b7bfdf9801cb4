/**
 * Services that stand for a name outside the cluster. The proxy connects from the machine: a name can lead to what only the machine
 * reaches. Pure.
 */
import { isIP } from 'node:net';
import type { DeepReadonly } from '../../api/object-types.ts';
import type { DividedWork, Pace } from '../../base/event-loop/in-turns.ts';
import type { Service } from '../../kinds/groups/core/service/service.ts';
import type { IngressProblem } from './problem.ts';
import type { RulesByName } from './rules.ts';

/** Why a Service cannot be a backend; undefined if it can. */
export function externalNameRefusal(
  { metadata, spec }: DeepReadonly<Service>,
  allowsExternalNames: boolean,
): string | undefined {
  if (spec.type !== 'ExternalName') return undefined;
  const service = `Service ${JSON.stringify(metadata?.name ?? '')} of type ExternalName`;
  if (!allowsExternalNames) return `${service} is not served: --ingress-allow-external-names would allow it`;
  if (isIP(spec.externalName ?? '') === 0) return undefined;
  return `${service} is not served: its name is an IP address`;
}

/** By `namespace/name` of Services, why they are not served. */
export type Refusals = ReadonlyMap<string, string>;

export function* externalNameProblems(
  rules: RulesByName,
  refusals: Refusals,
  pace: Pace,
): DividedWork<readonly IngressProblem[]> {
  const problems: IngressProblem[] = [];
  if (refusals.size === 0) return problems;
  for (const { ingress, backends } of rules.values()) {
    const services = new Set<string>();
    for (const backend of backends.values()) {
      if (pace.isSpent()) yield;
      services.add(`${ingress.metadata.namespace ?? ''}/${backend?.service?.name ?? ''}`);
    }
    for (const service of services) {
      const message = refusals.get(service);
      if (message !== undefined) problems.push({ ingress, reason: 'ExternalNameNotAllowed', message });
    }
  }
  return problems;
}
