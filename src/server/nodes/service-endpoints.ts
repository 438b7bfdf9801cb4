import type { Endpoints } from '../../kinds/groups/core/endpoints.ts';

/** Where a ready endpoint of a service listens. */
export interface ServiceEndpoint {
  /** The node of its pod; empty for an endpoint that is no pod. */
  readonly node: string;
  readonly address: string;
  readonly port: number;
}

/** The ready endpoints of a port of a service. */
export function serviceEndpoints(
  { subsets = [] }: Endpoints,
  wanted: { readonly name?: string },
): readonly ServiceEndpoint[] {
  return subsets.flatMap(({ addresses = [], ports = [] }) =>
    ports
      .filter((port) => (port.name ?? '') === (wanted.name ?? ''))
      .flatMap(({ port }) => addresses.map(({ ip, nodeName }) => ({ address: ip, node: nodeName ?? '', port }))),
  );
}
