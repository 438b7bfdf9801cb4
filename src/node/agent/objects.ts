/** Reads what pods refer to, as the node. */
import { isApiError } from '../../api/errors.ts';
import { unlessAborted } from '../../base/event-loop/unless-aborted.ts';
import type { Client } from '../../client/client.ts';
import type { Informer } from '../../client/informer/informer.ts';
import { ConfigMap } from '../../kinds/groups/core/configuration/config-map.ts';
import { Secret } from '../../kinds/groups/core/configuration/secret.ts';
import type { Service } from '../../kinds/groups/core/service/service.ts';
import { RuntimeClass } from '../../kinds/groups/node/runtime-class.ts';
import type { Found, ServiceAddress } from '../container/inputs.ts';
import type { ReferredObjects } from './actions/context.ts';

/** Where the API server answers without rules for its Service. */
export interface ApiServerAddress {
  readonly host: string;
  readonly port: number;
}

/** The Service `kubernetes` with another address and port. */
function withApiServer(services: Iterable<ServiceAddress>, { host, port }: ApiServerAddress): ServiceAddress[] {
  return [...services].map((service) => {
    const { name, namespace } = service.metadata;
    if (name !== 'kubernetes' || namespace !== 'default') return service;
    return { ...service, spec: { clusterIP: host, ports: [{ name: 'https', port, protocol: 'TCP' }] } };
  });
}

export function referredObjects(
  client: Client,
  services: Pick<Informer<Service>, 'synced' | 'lister'>,
  { signal, apiServer }: { readonly signal: AbortSignal; readonly apiServer?: (() => ApiServerAddress) | undefined },
): ReferredObjects {
  return {
    configMap: (namespace, name) => found(client.of(ConfigMap).in(namespace).get(name, { signal })) as never,
    secret: (namespace, name) => found(client.of(Secret).in(namespace).get(name, { signal })) as never,
    async services(waits) {
      if (waits) await unlessAborted(services.synced, signal);
      const all = services.lister.list() as unknown as Iterable<ServiceAddress>;
      return apiServer ? withApiServer(all, apiServer()) : all;
    },
    async runtimeHandler(name) {
      const { handler } = await client.of(RuntimeClass).get(name, { signal });
      return handler;
    },
  };
}

async function found<T>(read: Promise<T>): Promise<Found<T>> {
  try {
    return { type: 'found', object: await read };
  } catch (error) {
    if (isApiError(error, 'NotFound')) return { type: 'missing' };
    return { type: 'failed', message: (error as Error).message };
  }
}
