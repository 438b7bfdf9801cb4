import type { SeenIngress } from './rules.ts';

/** Why a part of an Ingress is not served. Becomes an event. */
export interface IngressProblem {
  readonly ingress: SeenIngress;
  readonly reason: 'HostTaken' | 'ExternalNameNotAllowed' | 'ServiceNotFound' | 'ServicePortNotFound';
  readonly message: string;
}
