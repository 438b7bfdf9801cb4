import {
  IP_ALLOCATOR,
  IP_FAMILY_LABEL,
  IP_MANAGER_LABEL,
  IPAddress,
} from '../../../kinds/groups/networking/ip-address.ts';
import type { KubeObject } from '../../../kinds/kind.ts';
import { ipFamily } from '../../../kinds/shapes/meta/addresses/ip-address.ts';

export function newAddress(address: string, service: Pick<KubeObject['metadata'], 'namespace' | 'name'>): KubeObject {
  const { namespace, name } = service;
  const object = {
    kind: IPAddress.kind,
    apiVersion: IPAddress.hub.apiVersion,
    metadata: {
      name: address,
      labels: { [IP_FAMILY_LABEL]: ipFamily(address) ?? '', [IP_MANAGER_LABEL]: IP_ALLOCATOR },
    },
    spec: { parentRef: { resource: 'services', namespace, name } },
  };
  return object;
}
