/** The stages of a request, in execution order. Each is a file in this folder. */
import { isApiError } from '../../../../api/errors.ts';
import { RequestAttributes } from '../../../access/authz/attributes.ts';
import type { Exchange } from '../../exchange.ts';
import { healthPath } from '../documents/health.ts';
import type { ApiRequest, RoutedVerb } from './find-route.ts';
import { ObjectRequest } from './object-request.ts';
import { checkUrlLength, RequestTarget } from './request-target.ts';
import { createStages, type PipelineOptions, type Stages } from './stages.ts';

export class Pipeline {
  readonly #stages: Stages;
  readonly #maxUrlLength: number;

  constructor(options: PipelineOptions) {
    this.#stages = createStages(options);
    this.#maxUrlLength = options.limits.maxUrlLength;
  }

  /** Serves one request; errors become responses. */
  async serve(exchange: Exchange): Promise<void> {
    const stages = this.#stages;
    const lifecycle = stages.accept(exchange);
    stages.monitor.begin(lifecycle);
    const target = new RequestTarget(exchange.url);
    try {
      checkUrlLength(exchange.url, this.#maxUrlLength);
      const authenticated = stages.authenticate(exchange, target.path);
      const sender = authenticated instanceof Promise ? await authenticated : authenticated;
      lifecycle.sender = sender;
      const impersonated = stages.impersonate(exchange, target, sender);
      const user = impersonated instanceof Promise ? await impersonated : impersonated;
      const request: ApiRequest = { exchange, target, user, lifecycle };
      const health = healthPath(target.path);
      if (health) return await stages.serveHealth(request, health);
      const found = stages.findRoute(request);
      const routed = found instanceof Promise ? await found : found;
      return routed ? await this.#serveObjects(request, routed) : await stages.servePath(request);
    } catch (error) {
      if (isApiError(error, 'Unauthorized')) await lifecycle.delayUnauthenticated();
      lifecycle.auditFailure();
      await stages.respondError(exchange, error, target.parsedQuery);
      lifecycle.fail(error);
    }
  }

  async #serveObjects(apiRequest: ApiRequest, routed: RoutedVerb): Promise<void> {
    const stages = this.#stages;
    const request = new ObjectRequest(apiRequest, routed, stages.counting);
    const { exchange, lifecycle, route, query, notes } = request;
    try {
      if (query.timeoutMs !== undefined && !query.watch) lifecycle.limit(query.timeoutMs);
      const attributes = new RequestAttributes(request, route, query.options);
      const admitted = stages.admit(lifecycle, attributes, route, query.options);
      if (admitted) await admitted;
      const representation = stages.negotiate(request);
      const read = stages.readCall(request);
      const call = read instanceof Promise ? await read : read;
      lifecycle.record?.setRequestBody(call.body);
      stages.monitor.begin(lifecycle);
      const reply = await stages.handle(call, notes);
      lifecycle.record?.annotateAll(notes.annotations);
      stages.monitor.begin(lifecycle);
      const responding = stages.respond(request, reply, representation);
      if (responding) await responding;
    } catch (error) {
      lifecycle.record?.annotateAll(notes.annotations);
      await stages.respondError(exchange, error, query, notes.warnings);
      request.fail(error);
    }
  }

  /** Prepares the documents that clients request first. Should be called when the server is idle. */
  prepare(): void {
    this.#stages.documents.prepare();
  }

  /** Ends every watch, and makes clients open new connections for further requests. */
  drain(): void {
    this.#stages.streams.drain();
  }
}
