/** The stages of a request, in order. Each is a file of this folder. */
import type { Clock } from '../../../base/clock.ts';
import { isApiError } from '../../../base/errors.ts';
import type { Logger } from '../../../base/log.ts';
import type { CallOptions, Handle } from '../../api.ts';
import type { Audit } from '../../audit/audit.ts';
import type { Authenticate } from '../../authn/authenticator.ts';
import { RequestAttributes } from '../../authz/attributes.ts';
import type { Attributes, Authorizer } from '../../authz/authorizer.ts';
import { Impersonation } from '../../authz/impersonation/impersonation.ts';
import { requireAccess } from '../../authz/require-access.ts';
import type { FlowControl } from '../../fairness/flow-control.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import type { Registry } from '../../registry.ts';
import { RequestMemos } from '../../request-memos.ts';
import { RequestBodies } from '../body/request-bodies.ts';
import { Documents, type DocumentsOptions } from '../documents/documents.ts';
import { Health, type HealthCheck, healthPath } from '../documents/health.ts';
import type { Limits } from '../limits.ts';
import type { Exchange } from '../protocol/exchange.ts';
import { NO_QUERY } from '../route/query.ts';
import { type Route, Routes } from '../route/route.ts';
import type { ApiRequest } from './api-request.ts';
import { authenticateStage } from './authenticate.ts';
import { Deadlines } from './deadlines.ts';
import { findRouteStage, type RoutedVerb } from './find-route.ts';
import { impersonateStage } from './impersonate.ts';
import { negotiateResponse } from './negotiate-response.ts';
import { ObjectRequest } from './object-request.ts';
import { OpenStreams } from './open-streams.ts';
import { readCallStage } from './read-call.ts';
import { type LifecycleOptions, RequestLifecycle } from './request-lifecycle.ts';
import { checkUrlLength, RequestTarget } from './request-target.ts';
import { respondStage } from './respond.ts';
import { respondErrorStage } from './respond-error.ts';
import { serveHealthStage, servePathStage } from './serve-path.ts';

export interface PipelineOptions extends DocumentsOptions {
  readonly handle: Handle;
  readonly registry: Registry;
  readonly authenticate: Authenticate;
  readonly authorizer: Authorizer;
  readonly isReady: () => boolean;
  readonly checks: readonly HealthCheck[];
  readonly metrics: Metrics;
  readonly limits: Limits;
  /** Without it, nothing is recorded. */
  readonly audit?: Audit | undefined;
  /** Without it, every request is served at once. */
  readonly flowControl?: FlowControl | undefined;
  readonly log: Logger;
  readonly clock: Clock;
}

export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #counting: { readonly requests: Metrics['requests']; readonly clock: Clock };
  readonly #lifecycle: LifecycleOptions;
  readonly #streams = new OpenStreams();
  readonly #documents: Documents;
  readonly #authenticate: ReturnType<typeof authenticateStage>;
  readonly #impersonate: ReturnType<typeof impersonateStage>;
  readonly #findRoute: ReturnType<typeof findRouteStage>;
  readonly #readCall: ReturnType<typeof readCallStage>;
  readonly #respond: ReturnType<typeof respondStage>;
  readonly #respondError: ReturnType<typeof respondErrorStage>;
  readonly #serveHealth: ReturnType<typeof serveHealthStage>;
  readonly #servePath: ReturnType<typeof servePathStage>;

  constructor(options: PipelineOptions) {
    const { audit, flowControl, clock, limits, log, registry, backends, checks, isReady, metrics } = options;
    const streams = this.#streams;
    this.#options = options;
    this.#counting = { requests: metrics.requests, clock };
    this.#documents = new Documents(options);
    const impersonation = new Impersonation(options.authorizer);
    metrics.add(impersonation);
    const routes = new Routes(backends);
    const health = new Health({ checks, isReady, isDraining: () => streams.isDraining });
    this.#authenticate = authenticateStage(options);
    this.#impersonate = impersonateStage({ impersonation, routes });
    this.#findRoute = findRouteStage({ routes, admit: (lifecycle, attributes) => this.#admit(lifecycle, attributes) });
    this.#readCall = readCallStage({ bodies: new RequestBodies(registry, limits) });
    this.#respond = respondStage({ clock, streams });
    this.#respondError = respondErrorStage({ log, streams });
    this.#serveHealth = serveHealthStage({ health });
    this.#servePath = servePathStage({ routes, documents: this.#documents });
    const deadlines = new Deadlines(clock, limits.requestTimeoutMs);
    const onTimeout: LifecycleOptions['onTimeout'] = (exchange, error) => this.#respondError(exchange, error, NO_QUERY);
    this.#lifecycle = { audit, flowControl, deadlines, memos: new RequestMemos(), onTimeout };
  }

  /** Serves one request; errors become responses. */
  async serve(exchange: Exchange): Promise<void> {
    const lifecycle = new RequestLifecycle(exchange, this.#lifecycle);
    const target = new RequestTarget(exchange.url);
    try {
      checkUrlLength(exchange.url, this.#options.limits.maxUrlLength);
      const authenticated = this.#authenticate(exchange, target.path);
      const sender = authenticated instanceof Promise ? await authenticated : authenticated;
      lifecycle.sender = sender;
      const impersonated = this.#impersonate(exchange, target, sender);
      const user = impersonated instanceof Promise ? await impersonated : impersonated;
      const request: ApiRequest = { exchange, target, user, lifecycle };
      const health = healthPath(target.path);
      if (health) {
        await this.#admit(lifecycle, { user, verb: exchange.method.toLowerCase(), path: target.path });
        return await this.#serveHealth(request, health);
      }
      const found = this.#findRoute(request);
      const routed = found instanceof Promise ? await found : found;
      return routed ? await this.#serveObjects(request, routed) : await this.#servePath(request);
    } catch (error) {
      if (isApiError(error, 'Unauthorized')) await lifecycle.delayUnauthenticated();
      lifecycle.auditFailure();
      await this.#respondError(exchange, error, target.parsedQuery);
      lifecycle.fail(error);
    }
  }

  async #serveObjects(apiRequest: ApiRequest, routed: RoutedVerb): Promise<void> {
    const request = new ObjectRequest(apiRequest, routed, this.#counting);
    const { exchange, lifecycle, route, query, notes } = request;
    try {
      const attributes = new RequestAttributes(request, route, query.options);
      const admitted = this.#admit(lifecycle, attributes, route, query.options);
      if (admitted) await admitted;
      const representation = negotiateResponse(request);
      const read = this.#readCall(request);
      const call = read instanceof Promise ? await read : read;
      lifecycle.record?.setRequestBody(call.body);
      const reply = await this.#options.handle(call, notes);
      lifecycle.record?.annotateAll(notes.annotations);
      const responding = this.#respond(request, reply, representation);
      if (responding) await responding;
    } catch (error) {
      lifecycle.record?.annotateAll(notes.annotations);
      await this.#respondError(exchange, error, query, notes.warnings);
      request.fail(error);
    }
  }

  /** Audit, flow control, authorization. Undefined when nothing had to wait. */
  #admit(
    lifecycle: RequestLifecycle,
    attributes: Attributes,
    route?: Route,
    options?: CallOptions,
  ): Promise<void> | undefined {
    lifecycle.audit(attributes, route, options);
    const waiting = lifecycle.takeSeat();
    return waiting ? waiting.then(() => this.#authorize(lifecycle)) : this.#authorize(lifecycle);
  }

  #authorize({ attributes, record }: RequestLifecycle): Promise<void> | undefined {
    return requireAccess(this.#options.authorizer, attributes, record);
  }

  /** Prepares the documents that clients ask for first; to be called when the server is idle. */
  prepare(): void {
    this.#documents.prepare();
  }

  /** Ends every watch, and has clients open new connections for further requests. */
  drain(): void {
    this.#streams.drain();
  }
}
