import { RequestNotes } from '../../../../api/call.ts';
import type { ParameterValues } from '../../../../api/parameters.ts';
import { type PastParameters, pastParameters } from '../../../../api/past.ts';
import type { User } from '../../../../api/user.ts';
import type { Clock } from '../../../../base/time/clock.ts';
import type { Verb } from '../../../../kinds/kind.ts';
import type { Exchange } from '../../exchange.ts';
import type { RequestMetrics, Series } from '../../metrics/requests.ts';
import { parseParameters, type Query } from '../route/query.ts';
import type { Route } from '../route/route.ts';
import type { ApiRequest, RoutedVerb } from './find-route.ts';
import type { RequestLifecycle } from './request-lifecycle.ts';

/** Status code in the metrics for a request whose client disconnected before the response, as in nginx. */
const CLIENT_CLOSED_REQUEST = 499;

/** A request for objects, counted in the metrics until its response is complete. */
export class ObjectRequest {
  readonly exchange: Exchange;
  readonly lifecycle: RequestLifecycle;
  readonly user: User;
  readonly query: Query;
  readonly route: Route;
  readonly verb: Verb;
  readonly notes = new RequestNotes();
  readonly #search: string;
  readonly #metrics: RequestMetrics;
  readonly #clock: Clock;
  readonly #series: Series;
  #isCounted = false;

  constructor(
    { exchange, target, user, lifecycle }: ApiRequest,
    { route, verb }: RoutedVerb,
    options: CountingOptions,
  ) {
    this.exchange = exchange;
    this.lifecycle = lifecycle;
    this.user = user;
    this.query = target.queryOf(route);
    this.#search = target.search;
    this.route = route;
    this.verb = verb;
    this.#metrics = options.requests;
    this.#clock = options.clock;
    this.#series = options.requests.began(verb, route);
  }

  /** The declared query parameters of the subresource; undefined if it declares none. Throws a BadRequest. */
  get parameters(): ParameterValues | undefined {
    const declared = this.route.subresource?.descriptor.parameters;
    return declared && !this.route.path ? parseParameters(this.#search, declared) : undefined;
  }

  /** The parameters of a read of the past; undefined for any other request. Throws a BadRequest. */
  get past(): PastParameters | undefined {
    return this.route.isPast ? parseParameters(this.#search, pastParameters) : undefined;
  }

  /** Completes the request. A watch over a WebSocket has no status code of its own. */
  complete(): void {
    this.lifecycle.complete();
    this.#count(this.exchange.code || 200);
  }

  /** Completes the request with an error, which was sent if the client was still connected. */
  fail(error: unknown): void {
    this.lifecycle.fail(error);
    this.#count(this.exchange.code || CLIENT_CLOSED_REQUEST);
  }

  #count(code: number): void {
    if (this.#isCounted) return;
    this.#isCounted = true;
    this.#metrics.ended(this.#series, code, (this.#clock.now() - this.lifecycle.began) / 1000);
  }
}

export interface CountingOptions {
  readonly requests: RequestMetrics;
  readonly clock: Clock;
}
