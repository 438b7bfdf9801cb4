import { Service } from '../../../../kinds/groups/core/service/service.ts';
import { rejected } from '../../../objects/admission/request.ts';
import type { AdmissionPlugin } from '../plugin.ts';

/** Rejects new external IPs of services, which could be used to intercept the traffic of others. */
export const denyServiceExternalIps: AdmissionPlugin = {
  name: 'DenyServiceExternalIPs',

  handles: (kind, operation, subresource) =>
    kind === Service && (operation === 'CREATE' || operation === 'UPDATE') && !subresource,

  validate(_core, request) {
    const { externalIPs = [] } = (request.object as Service).spec;
    const before = (request.old as Service | undefined)?.spec.externalIPs ?? [];
    if (externalIPs.every((address) => before.includes(address))) return;
    throw rejected(request, 'Use of external IPs is denied by admission control');
  },
};
