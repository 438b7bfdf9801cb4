import type { AnyObject, KindRef } from '../api/object-types.ts';
import type { Tools } from '../base/tools.ts';
import { Resource } from './resource.ts';
import type { Transport } from './transport/transport.ts';

/** The API by kind: `client.of(Pod).in('default').get('web')`. Rejects with an ApiError or the signal's reason. */
export interface Client {
  /** The resource in the stored version, which the kind's type describes. */
  of<T>(kind: KindRef<T>): Resource<T>;
  /** The resource in any served version. */
  of(kind: KindRef, apiVersion: string): Resource<AnyObject>;
}

/** Dependencies of everything that works through the API. */
export interface ClientTools extends Tools {
  readonly client: Client;
}

/** `aggregated`: a transport to the kinds of aggregated API servers, if `transport` does not reach them. */
export function createClient(transport: Transport, aggregated: Transport = transport): Client {
  return {
    of: ({ hub, kind, plural, scope, isAggregated }: KindRef, apiVersion = hub.apiVersion) =>
      new Resource<any>(isAggregated ? aggregated : transport, {
        apiVersion,
        kind,
        plural,
        namespaced: scope === 'Namespaced',
      }),
  };
}
