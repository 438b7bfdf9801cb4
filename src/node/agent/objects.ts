/** Reads what pods refer to, as the node. */
import { isApiError } from '../../base/errors.ts';
import { unlessAborted } from '../../base/unless-aborted.ts';
import type { Client } from '../../client/client.ts';
import type { Informer } from '../../client/informer/informer.ts';
import { ConfigMap } from '../../kinds/groups/core/config-map.ts';
import { Secret } from '../../kinds/groups/core/secret.ts';
import type { Service } from '../../kinds/groups/core/service/service.ts';
import { RuntimeClass } from '../../kinds/groups/node/runtime-class.ts';
import type { Found, ServiceAddress } from '../container/inputs.ts';
import type { ReferredObjects } from './actions/context.ts';

export function referredObjects(
  client: Client,
  services: Pick<Informer<Service>, 'synced' | 'lister'>,
  signal: AbortSignal,
): ReferredObjects {
  return {
    configMap: (namespace, name) => found(client.of(ConfigMap).in(namespace).get(name, { signal })) as never,
    secret: (namespace, name) => found(client.of(Secret).in(namespace).get(name, { signal })) as never,
    async services(waits) {
      if (waits) await unlessAborted(services.synced, signal);
      return services.lister.list() as unknown as Iterable<ServiceAddress>;
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
