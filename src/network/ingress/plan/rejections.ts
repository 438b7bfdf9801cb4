/** Finds the backends that can never be served, whatever their pods do, and the Ingresses that lead to them. Pure. */

import { isIP } from 'node:net';
import type { DeepReadonly } from '../../../api/object-types.ts';
import type { DividedWork, Pace } from '../../../base/event-loop/in-turns.ts';
import type { Service } from '../../../kinds/groups/core/service/service.ts';
import type { IngressBackend, IngressProblem, RulesByName } from './rules.ts';

export type Rejection = Pick<IngressProblem, 'reason' | 'message'>;

/** Rejections by the keys of backends, for each Service as `namespace/name`; those without rejections are left out. */
export type Rejections = ReadonlyMap<string, ReadonlyMap<string, Rejection>>;

type WantedService = NonNullable<IngressBackend>['service'];
type WantedPort = NonNullable<WantedService>['port'];

/** Why requests cannot be sent to the port of a Service; undefined if they can. */
export function rejectionOf(
  wanted: NonNullable<WantedService>,
  service: DeepReadonly<Service> | undefined,
  allowsExternalNames: boolean,
): Rejection | undefined {
  const name = JSON.stringify(wanted.name);
  if (!service) return { reason: 'ServiceNotFound', message: `Service ${name} does not exist: its paths answer 503` };
  const external = externalNameRejection(service, allowsExternalNames);
  if (external !== undefined) return { reason: 'ExternalNameNotAllowed', message: external };
  if (service.spec.type === 'ExternalName' || portOf(service, wanted.port)) return undefined;
  const port = wanted.port?.name ? JSON.stringify(wanted.port.name) : wanted.port?.number;
  const ports = (service.spec.ports ?? []).map((each) => (each.name ? `${each.name} (${each.port})` : each.port));
  const message = `Service ${name} has no port ${port}: its paths answer 503. It has: ${ports.join(', ') || 'none'}`;
  return { reason: 'ServicePortNotFound', message };
}

/** The port that a backend names, by its name or number. */
export function portOf({ spec }: DeepReadonly<Service>, { name, number }: NonNullable<WantedPort> = {}) {
  return spec.ports?.find((each) => (name ? each.name === name : each.port === number));
}

/** Limit for one Ingress, which may name thousands of Services. */
const MAX_PROBLEMS = 5;

export function* backendProblems(
  rules: RulesByName,
  rejections: Rejections,
  pace: Pace,
): DividedWork<readonly IngressProblem[]> {
  const problems: IngressProblem[] = [];
  if (rejections.size === 0) return problems;
  for (const { ingress, backends } of rules.values()) {
    const messages = new Set<string>();
    for (const [key, backend] of backends) {
      if (pace.isSpent()) yield;
      const service = `${ingress.metadata.namespace ?? ''}/${backend?.service?.name ?? ''}`;
      const rejection = rejections.get(service)?.get(key);
      if (!rejection || messages.has(rejection.message)) continue;
      if (messages.size === MAX_PROBLEMS) break;
      messages.add(rejection.message);
      problems.push({ ingress, ...rejection });
    }
  }
  return problems;
}

/**
 * Why a Service cannot be a backend; undefined if it can. The proxy connects from the machine: an external name can lead to
 * addresses that only the machine reaches.
 */
export function externalNameRejection(
  { metadata, spec }: DeepReadonly<Service>,
  allowsExternalNames: boolean,
): string | undefined {
  if (spec.type !== 'ExternalName') return undefined;
  const service = `Service ${JSON.stringify(metadata?.name ?? '')} of type ExternalName`;
  if (!allowsExternalNames) return `${service} is not served: --ingress-allow-external-names would allow it`;
  if (isIP(spec.externalName ?? '') === 0) return undefined;
  return `${service} is not served: its name is an IP address`;
}
