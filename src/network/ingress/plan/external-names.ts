/**
 * Services that stand for a name outside the cluster. The proxy connects from the machine: a name can lead to addresses
 * that only the machine reaches. Pure.
 */
import { isIP } from 'node:net';
import type { DeepReadonly } from '../../../api/object-types.ts';
import type { Service } from '../../../kinds/groups/core/service/service.ts';

/** Why a Service cannot be a backend; undefined if it can. */
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
