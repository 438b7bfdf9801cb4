import type { Endpoints } from '../../../kinds/groups/core/service/endpoints.ts';

export interface ServiceEndpoint {
  /** The node of its pod; empty for an endpoint that is not a pod. */
  readonly node: string;
  readonly address: string;
  readonly port: number;
}

export type EndpointAddress = NonNullable<NonNullable<Endpoints['subsets']>[number]['addresses']>[number];

/** Returns the ready endpoints of a service port that pass the filter. */
export function serviceEndpoints(
  { subsets = [] }: Endpoints,
  portName: string,
  filter: (address: EndpointAddress) => boolean = () => true,
): readonly ServiceEndpoint[] {
  return subsets.flatMap(({ addresses = [], ports = [] }) =>
    ports
      .filter((port) => (port.name ?? '') === portName)
      .flatMap(({ port }) =>
        addresses.filter(filter).map(({ ip, nodeName }) => ({ address: ip, node: nodeName ?? '', port })),
      ),
  );
}
