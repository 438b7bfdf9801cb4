import type { Verb } from '../../../kinds/kind.ts';
import type { Call, CallOptions, PatchType, User } from '../../api.ts';
import type { Exchange } from '../protocol/exchange.ts';
import type { Route } from '../route/route.ts';

/** What a request asks of the server behind HTTP. */
export class RequestCall implements Call {
  readonly apiVersion: string;
  readonly plural: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
  body?: unknown;
  duplicates?: readonly string[];
  patchType?: PatchType;
  options?: CallOptions;
  readonly #exchange: Exchange;

  constructor(
    exchange: Exchange,
    readonly verb: Verb,
    route: Route,
    readonly user: User,
  ) {
    this.#exchange = exchange;
    this.apiVersion = route.resource.version.apiVersion;
    this.plural = route.resource.kind.plural;
    if (route.namespace !== undefined) this.namespace = route.namespace;
    if (route.name !== undefined && verb !== 'watch') this.name = route.name;
    if (route.subresource) this.subresource = route.subresource.name;
  }

  /** Few verbs wait for anything, so most requests never make one. */
  get signal(): AbortSignal {
    return this.#exchange.signal;
  }
}
