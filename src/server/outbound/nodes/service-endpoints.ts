import type { Endpoints } from '../../../kinds/groups/core/endpoints.ts';

/** Where a ready endpoint of a service listens. */
export interface ServiceEndpoint {
  /** The node of its pod; empty for an endpoint that is no pod. */
  readonly node: string;
  readonly address: string;
  readonly port: number;
}

export type EndpointAddress = NonNullable<NonNullable<Endpoints['subsets']>[number]['addresses']>[number];

/** The ready endpoints of a port of a service that pass the filter. */
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
