/** Determines whether the server behind an APIService is available, with the messages of Kubernetes. */

import { Endpoints } from '../../../kinds/groups/core/service/endpoints.ts';
import { Service } from '../../../kinds/groups/core/service/service.ts';
import type { APIServiceCondition } from '../../../kinds/groups/extension/apiregistration/api-service.ts';
import type { Reader } from '../../objects/ports.ts';
import { objectNamed } from '../../objects/reads/lookup.ts';
import { serviceEndpoints } from '../../outbound/nodes/service-endpoints.ts';
import type { ServicePort } from '../../outbound/services/dial-service.ts';

type Ports = Pick<Reader, 'cache'>;

export type Finding = Pick<APIServiceCondition, 'type' | 'status' | 'reason' | 'message'>;

export const AVAILABLE = 'Available';
const MAX_MESSAGE_LENGTH = 1000;

export const PASSED: Finding = { type: AVAILABLE, status: 'True', reason: 'Passed', message: 'all checks passed' };

const unavailable = (reason: string, message: string): Finding => ({
  type: AVAILABLE,
  status: 'False',
  reason,
  message: message.slice(0, MAX_MESSAGE_LENGTH),
});

/** Returns a problem with the objects of the Service; undefined when the server can be called. */
export function findingOfService(core: Ports, { namespace, name, port }: ServicePort): Finding | undefined {
  const of = `service/${name} in ${JSON.stringify(namespace)}`;
  const service = objectNamed(core, Service, namespace, name);
  if (!service) return unavailable('ServiceNotFound', `${of} is not present`);
  if ((service.spec.type ?? 'ClusterIP') !== 'ClusterIP') return undefined;
  const wanted = service.spec.ports?.find((each) => each.port === port);
  if (!wanted) return unavailable('ServicePortError', `${of} is not listening on port ${port}`);
  const endpoints = objectNamed(core, Endpoints, namespace, name);
  if (!endpoints) return unavailable('EndpointsNotFound', `cannot find endpointslices for ${of}`);
  const { name: portName = '' } = wanted;
  if (serviceEndpoints(endpoints, portName).length > 0) return undefined;
  const missing = `have no addresses with port name ${JSON.stringify(portName)}`;
  return unavailable('MissingEndpoints', `endpointslices for ${of} ${missing}`);
}

/** The finding for a group that this server serves itself: another one does not get its requests. */
export function ownGroup(group: string): Finding {
  const what = group === '' ? 'the core group' : `group ${JSON.stringify(group)}`;
  return unavailable('ServedHere', `${what} is served by this server itself, and requests for it are not passed on`);
}

export function failedCheck(url: string, problem: string): Finding {
  return unavailable('FailedDiscoveryCheck', `failing or missing response from ${url}: ${problem}`);
}

export function isSameFinding(condition: APIServiceCondition | undefined, finding: Finding): boolean {
  return (
    condition?.status === finding.status && condition.reason === finding.reason && condition.message === finding.message
  );
}
