/** Creates the stages of the pipeline from its options. */
import type { CallOptions, Handle } from '../../../../api/call.ts';
import { ApiError, badRequest } from '../../../../api/errors.ts';
import type { ServedAction, ServedTree } from '../../../../api/served-action.ts';
import type { User } from '../../../../api/user.ts';
import type { WorkMonitor } from '../../../../base/event-loop/watchdog.ts';
import type { Tools } from '../../../../base/tools.ts';
import type { Audit } from '../../../access/audit/audit.ts';
import { ANONYMOUS, type Authenticate } from '../../../access/authn/authenticator.ts';
import { unsecuredUser } from '../../../access/authn/unsecured.ts';
import { attributesOfPath, RequestAttributes } from '../../../access/authz/attributes.ts';
import type { Attributes, Authorizer } from '../../../access/authz/authorizer.ts';
import { Impersonation } from '../../../access/authz/impersonation/impersonation.ts';
import { requestedUser } from '../../../access/authz/impersonation/requested-user.ts';
import type { FlowControl } from '../../../access/fairness/flow-control.ts';
import { RequestMemos } from '../../../access/request-memos.ts';
import type { Registry } from '../../../objects/registry/registry.ts';
import type { DecodeYaml } from '../../codec/yaml.ts';
import type { Exchange } from '../../exchange.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import { ProtobufReplies } from '../../protobuf/replies.ts';
import { hasProtobufForm } from '../../protobuf/shapes.ts';
import { checkForm, hasRows, includeOf, type ObjectForm, offersFor, textOffers } from '../../representations/forms.ts';
import { RequestBodies } from '../body/request-bodies.ts';
import { Deadlines } from '../deadlines.ts';
import { Documents, type DocumentsOptions } from '../documents/documents.ts';
import { Health, type HealthCheck, HealthResults } from '../documents/health.ts';
import type { Limits } from '../limits.ts';
import { isPlainJson, negotiate, negotiateStream, type Representation } from '../respond/accept.ts';
import { NO_QUERY } from '../route/query.ts';
import { Routes, splitPath, verbOf } from '../route/route.ts';
import { admitStage } from './admit.ts';
import { findRouteStage } from './find-route.ts';
import type { ObjectRequest } from './object-request.ts';
import { OpenStreams } from './open-streams.ts';
import { NO_CONTENT, RequestCall } from './request-call.ts';
import { RequestLifecycle } from './request-lifecycle.ts';
import type { RequestTarget } from './request-target.ts';
import { respondErrorStage, respondStage } from './respond.ts';
import { serveHealthStage, servePathStage } from './serve-path.ts';

export interface PipelineOptions extends DocumentsOptions, Tools {
  readonly handle: Handle;
  /** Paths that answer according to the user. */
  readonly actions: readonly ServedAction[];
  /** Paths with everything below them that answer with JSON. */
  readonly trees: readonly ServedTree[];
  /** The kinds with protobuf bodies, whose requests are counted. */
  readonly registry: Registry;
  readonly authenticate: Authenticate;
  readonly authorizer: Authorizer;
  readonly isReady: () => boolean;
  /** Health checks besides those of the server, such as that of the store. */
  readonly checks: readonly HealthCheck[];
  readonly metrics: Metrics;
  readonly limits: Limits;
  /** Decodes large YAML bodies. Default: on the event loop, with a lower limit. */
  readonly decodeLargeYaml?: DecodeYaml | undefined;
  /** The audit log; when absent, nothing is recorded. */
  readonly audit?: Audit | undefined;
  /** Flow control; when absent, every request is served at once. */
  readonly flowControl?: FlowControl | undefined;
  /** Receives notice of the request being handled. */
  readonly monitor: WorkMonitor;
}

export type Stages = ReturnType<typeof createStages>;

export function createStages(options: PipelineOptions) {
  const { handle, audit, authorizer, flowControl, clock, limits, log, registry, backends, metrics } = options;
  const { checks, isReady, monitor, decodeLargeYaml } = options;
  const streams = new OpenStreams();
  const health = new Health({ checks, isReady, isDraining: () => streams.isDraining, results: new HealthResults() });
  const documents = new Documents(options, health);
  const routes = new Routes(backends);
  const impersonation = new Impersonation(authorizer);
  metrics.add(impersonation);
  const admit = admitStage({ authorizer });
  const protobuf = new ProtobufReplies(registry);
  const respondError = respondErrorStage({ log, streams, protobuf });
  const lifecycle = {
    audit,
    flowControl,
    memos: new RequestMemos(),
    random: options.random,
    deadlines: new Deadlines(clock, limits.requestTimeoutMs),
    onTimeout: (exchange: Parameters<typeof respondError>[0], error: unknown) =>
      respondError(exchange, error, NO_QUERY),
  };
  return {
    streams,
    documents,
    monitor,
    counting: { requests: metrics.requests, clock },
    accept: (exchange: Exchange) => new RequestLifecycle(exchange, lifecycle),
    authenticate: authenticateStage(options),
    impersonate: impersonateStage({ impersonation, routes }),
    findRoute: findRouteStage({ routes, admit }),
    admit,
    negotiate: negotiateResponse,
    readCall: readCallStage({ bodies: new RequestBodies(registry, limits, decodeLargeYaml), monitor }),
    handle,
    respond: respondStage({ clock, streams, protobuf }),
    respondError,
    serveHealth: serveHealthStage({ health, admit }),
    servePath: servePathStage({ streams, routes, documents, actions: options.actions, trees: options.trees }),
  };
}

/** Public paths, which reveal only that the server runs and its release. They need no credentials. */
const PUBLIC_PATHS: ReadonlySet<string> = new Set(['/healthz', '/livez', '/readyz', '/version', '/version/']);

/** Authenticates the sender of a request. Throws, or rejects with, an Unauthorized. */
function authenticateStage({ authenticate }: { readonly authenticate: Authenticate }) {
  return (exchange: Exchange, path: string): User | Promise<User> => {
    if (exchange.peer.isUnsecured) return unsecuredUser(exchange.headers);
    return PUBLIC_PATHS.has(path) && !hasCredentials(exchange) ? ANONYMOUS : authenticate(exchange);
  };
}

function hasCredentials({ certificate, authorization, token }: Exchange): boolean {
  return certificate !== undefined || Boolean(authorization) || Boolean(token);
}

const PLAIN_JSON: Representation<ObjectForm> = { format: 'json', pretty: false };

/** Chooses the representation of a response before anything is done. Throws a NotAcceptable or a BadRequest. */
function negotiateResponse({ exchange, route, verb, query, past }: ObjectRequest): Representation<ObjectForm> {
  // Changes have one form.
  if (past && past.at === undefined) return PLAIN_JSON;
  // A log is always text, and proxied content is arbitrary, regardless of the Accept header; errors are JSON.
  const content = route.subresource?.descriptor.content.type;
  if (content === 'text' || content === 'connection') return PLAIN_JSON;
  const { accept } = exchange.headers;
  if (isPlainJson(accept)) return PLAIN_JSON;
  const hasTable = route.subresource !== undefined || hasRows(route.resource);
  const offers = exchange.watchFraming === 'frames' ? textOffers : offersFor(hasProtobufForm(route.resource), hasTable);
  const representation = verb === 'watch' ? negotiateStream(accept, offers) : negotiate(accept, offers);
  if (representation.form) {
    checkForm(representation.form, verb, route.resource);
    includeOf(query.includeObject);
  }
  return representation;
}

interface ImpersonateOptions {
  readonly impersonation: Impersonation;
  readonly routes: Routes;
}

/** Determines the user of a request: its sender, or the one in its headers that the sender may impersonate. */
function impersonateStage({ impersonation, routes }: ImpersonateOptions) {
  return (exchange: Exchange, target: RequestTarget, sender: User): User | Promise<User> => {
    const requested = requestedUser(exchange.headers);
    return requested ? impersonation.userFor(requested, attributesOf(exchange, target, sender)) : sender;
  };

  /** Returns the attributes of the request as if its sender made it directly. */
  function attributesOf({ method, url }: Exchange, target: RequestTarget, user: User): Attributes {
    const { path } = target;
    try {
      const route = routes.find(path, url);
      if (route) {
        const { watch, options } = target.queryOf(route);
        return new RequestAttributes({ user, verb: verbOf(method, route, watch) }, route, options);
      }
    } catch (error) {
      // A path that does not exist is reported later, to users who may know.
      if (!(error instanceof ApiError)) throw error;
    }
    return attributesOfPath({ user, method, path, parts: splitPath(path), watch: target.query.watch });
  }
}

/** Reads the content of a request and creates its call. Reads have no content, and are synchronous. */
function readCallStage({ bodies, monitor }: { readonly bodies: RequestBodies; readonly monitor: WorkMonitor }) {
  return (request: ObjectRequest): RequestCall | Promise<RequestCall> => {
    const { verb, route, query } = request;
    const options = query === NO_QUERY ? undefined : query.options;
    if (verb === 'get' || verb === 'list') return new RequestCall(request, options, NO_CONTENT);
    if (verb === 'watch') {
      const selecting = route.name === undefined ? options : selectName(query.options, route.name);
      return new RequestCall(request, selecting, NO_CONTENT);
    }
    return readContent(request, options);
  };

  /** Reads the content. Other requests may use the seat while the body arrives. */
  async function readContent(request: ObjectRequest, options: CallOptions | undefined): Promise<RequestCall> {
    const { exchange, route, verb, lifecycle } = request;
    const content = await lifecycle.releaseSeatWhile(
      bodies.read(exchange, { route, verb, options, begin: () => monitor.begin(lifecycle) }),
    );
    return new RequestCall(request, options, content);
  }
}

/** Turns a watch on one object into a watch on the list with its name; a field selector in the query must agree. */
function selectName(options: CallOptions, name: string): CallOptions {
  const own = `metadata.name=${name}`;
  const given = options.fieldSelector;
  if (!given) return { ...options, fieldSelector: own };
  if (!given.split(',').some((term) => term === own || term === `metadata.name==${name}`)) {
    throw badRequest("fieldSelector metadata.name doesn't match requested name");
  }
  return options;
}
