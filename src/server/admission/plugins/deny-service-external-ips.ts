import { Service } from '../../../kinds/groups/core/service/service.ts';
import type { AdmissionPlugin } from '../plugin.ts';
import { refused } from '../refusal.ts';

/** A Service takes no further addresses of the cluster's surroundings: with them it could catch what is meant for others. */
export const denyServiceExternalIps: AdmissionPlugin = {
  name: 'DenyServiceExternalIPs',

  handles: (kind, operation, subresource) =>
    kind === Service && (operation === 'CREATE' || operation === 'UPDATE') && !subresource,

  validate(_core, request) {
    const { externalIPs = [] } = (request.object as Service).spec;
    const before = (request.old as Service | undefined)?.spec.externalIPs ?? [];
    if (externalIPs.every((address) => before.includes(address))) return;
    throw refused(request, 'Use of external IPs is denied by admission control');
  },
};
