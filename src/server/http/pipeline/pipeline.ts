import type { Clock } from '../../../base/clock.ts';
import { ApiError, badRequest, isApiError } from '../../../base/errors.ts';
import type { Logger } from '../../../base/log.ts';
import type { Verb } from '../../../kinds/kind.ts';
import type { CallOptions, Handle, Reply, StreamReply, User, WatchConsumer, WatchReply } from '../../api.ts';
import type { Audit } from '../../audit/audit.ts';
import type { Outcome } from '../../audit/event.ts';
import { ANONYMOUS, type Authenticate } from '../../authn/authenticator.ts';
import { unsecuredUser } from '../../authn/unsecured.ts';
import { attributesOfPath, RequestAttributes } from '../../authz/attributes.ts';
import type { Attributes, Authorizer } from '../../authz/authorizer.ts';
import { Gate } from '../../authz/gate.ts';
import { wantedUser } from '../../authz/impersonation/wanted.ts';
import type { BackendRegistry } from '../../backends/backend-registry.ts';
import type { Discovery, VersionInfo } from '../../discovery/discovery.ts';
import type { Admitting } from '../../fairness/admitting.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import type { Series } from '../../metrics/requests.ts';
import { PerRoute } from '../../per-route.ts';
import type { Registry } from '../../registry.ts';
import { checkForm, includeOf, type ObjectForm, objectForms } from '../../representations/forms.ts';
import { type Shaping, shapeReply } from '../../representations/reply.ts';
import { RequestNotes } from '../../request-notes.ts';
import { RequestBodies } from '../body/request-bodies.ts';
import { Documents, type JsonDocument } from '../documents/documents.ts';
import { Health, type HealthCheck, healthPath } from '../documents/health.ts';
import { HttpError } from '../errors.ts';
import type { Limits } from '../limits.ts';
import { type Exchange, NO_HEADERS } from '../protocol/exchange.ts';
import { negotiate, negotiateStream, type Representation } from '../respond/accept.ts';
import { bytesOf, isReadByPeople, sendError, sendReply, type Wish, warningHeaders } from '../respond/respond.ts';
import { TextStream } from '../respond/text-stream.ts';
import { NO_QUERY, parseQuery, type Query } from '../route/query.ts';
import { type Route, Routes, splitPath, verbOf } from '../route/route.ts';
import { Deadlines } from './deadlines.ts';
import { RequestCall } from './request-call.ts';
import { Visit, type Visitors } from './request-lifecycle.ts';

export interface PipelineOptions {
  readonly handle: Handle;
  readonly backends: BackendRegistry;
  readonly registry: Registry;
  readonly authenticate: Authenticate;
  readonly authorizer: Authorizer;
  readonly discovery: Discovery;
  readonly isReady: () => boolean;
  readonly checks: readonly HealthCheck[];
  readonly documents: readonly JsonDocument[];
  readonly metrics: Metrics;
  readonly version: VersionInfo;
  readonly limits: Limits;
  /** Absent: nothing is noted. */
  readonly audit?: Audit | undefined;
  /** Absent: everybody is served at once. */
  readonly admitting?: Admitting | undefined;
  readonly log: Logger;
  readonly clock: Clock;
}

const TEXT = 'text/plain; charset=utf-8';
const NO_SNIFF = ['X-Content-Type-Options', 'nosniff'];
/** What is counted for a request whose client did not wait for the answer. */
const CLIENT_GONE = 499;
const SWITCHING = 101;
const NO_PAGE = Buffer.from('404 page not found\n');

/** What says nothing but that the server lives and what it is: asked without credentials, it is asked by nobody. */
const PUBLIC: ReadonlySet<string> = new Set(['/healthz', '/livez', '/readyz', '/version', '/version/']);

/** The way of a request: authenticate, route, find a seat, authorize, decode, hand over, answer. */
export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #watches = new Set<Pick<WatchConsumer, 'end'>>();
  readonly #documents: Documents;
  readonly #routes: Routes;
  readonly #gate: Gate;
  readonly #bodies: RequestBodies;
  readonly #visitors: Visitors;
  readonly #health: Health;
  #draining = false;

  constructor(options: PipelineOptions) {
    this.#options = options;
    this.#documents = new Documents(options);
    this.#routes = new Routes(options.backends);
    this.#gate = new Gate(options.authorizer);
    options.metrics.add(this.#gate.impersonation);
    const { audit, admitting, clock, limits, registry, checks, isReady } = options;
    this.#bodies = new RequestBodies(registry, limits);
    this.#health = new Health({ checks, isReady, isDraining: () => this.#draining });
    const deadlines = new Deadlines(clock, limits.requestTimeoutMs);
    const late: Visitors['late'] = (exchange, error) => this.#fail(exchange, error, { query: NO_QUERY });
    this.#visitors = { audit, admitting, deadlines, sorts: new PerRoute(), late };
  }

  /** Answers one request, whatever happens. */
  async serve(exchange: Exchange): Promise<void> {
    const { limits } = this.#options;
    const visit = new Visit(exchange, this.#visitors);
    let query = NO_QUERY;
    try {
      const { url } = exchange;
      if (url.length > limits.maxUrlLength)
        throw new HttpError(414, `the URL is longer than ${limits.maxUrlLength} characters`);
      const mark = url.indexOf('?');
      const path = mark < 0 ? url : url.slice(0, mark);
      const search = mark < 0 ? '' : url.slice(mark + 1);
      const health = path.startsWith('/api') ? undefined : healthPath(path);
      const found = this.#senderOf(exchange, path);
      const sender = found instanceof Promise ? await found : found;
      visit.sender = sender;
      const wanted = wantedUser(exchange.headers);
      const user = wanted ? await this.#gate.actingAs(wanted, this.#aimOf(exchange, path, search, sender)) : sender;
      if (health) {
        await this.#pass(visit, { user, verb: exchange.method.toLowerCase(), path });
        const { code, text } = await this.#health.answer(health, search);
        exchange.reply(code, TEXT, Buffer.from(text), NO_SNIFF);
        return visit.ended();
      }
      if (search !== '') query = parseQuery(search);
      const routed = this.#routeOf(exchange, { path, query, user, visit });
      const route = routed instanceof Promise ? await routed : routed;
      if (route) return await this.#serveRoute(exchange, { route, query, user, visit });
      const proxied = this.#routes.proxyOf(path);
      if (proxied) {
        await proxied(exchange, { user, path, goesOn: () => visit.goesOn(exchange.code) });
        return visit.ended();
      }
      const isDocument = await this.#documents.serve(exchange, path, isPretty(exchange, query));
      if (!isDocument) exchange.reply(404, TEXT, NO_PAGE, NO_SNIFF);
      visit.ended();
    } catch (error) {
      if (isApiError(error, 'Unauthorized')) await visit.asStranger();
      visit.failing();
      await this.#fail(exchange, error, { query });
      visit.failed(error);
    }
  }

  #senderOf(exchange: Exchange, path: string): User | Promise<User> {
    if (exchange.peer.isUnsecured) return unsecuredUser(exchange.headers);
    return PUBLIC.has(path) && hasNoCredentials(exchange) ? ANONYMOUS : this.#options.authenticate(exchange);
  }

  /**
   * What a path and a method name; undefined when that is no object, but something else that the user may see. What there
   * is not is told only to those who might see it if it were there.
   */
  #routeOf(exchange: Exchange, unrouted: Unrouted): Found | undefined | Promise<Found | undefined> {
    const { path, query } = unrouted;
    try {
      const route = this.#routes.find(path, exchange.url);
      if (route) return { route, verb: verbOf(exchange.method, route, query.watch) };
    } catch (error) {
      const passing = this.#passUnrouted(exchange, unrouted);
      if (!passing) throw error;
      return passing.then(() => {
        throw error;
      });
    }
    return this.#passUnrouted(exchange, unrouted)?.then(() => undefined);
  }

  /** What a request wants, as its sender's own. */
  #aimOf(exchange: Exchange, path: string, search: string, user: User): Attributes {
    const { method, url } = exchange;
    const { watch, options } = search === '' ? NO_QUERY : parseQuery(search);
    try {
      const route = this.#routes.find(path, url);
      if (route) return new RequestAttributes({ user, verb: verbOf(method, route, watch) }, route, options);
    } catch (error) {
      // What there is not is told later, to those who may know.
      if (!(error instanceof ApiError)) throw error;
    }
    return attributesOfPath({ user, method, path, parts: splitPath(path), watch });
  }

  #passUnrouted({ method }: Exchange, { path, query, user, visit }: Unrouted): Promise<void> | undefined {
    const parts = splitPath(path);
    return this.#pass(visit, attributesOfPath({ user, method, path, parts, watch: query.watch }));
  }

  #pass(visit: Visit, attributes: Attributes): Promise<void> | undefined {
    const entering = visit.enter(attributes);
    return entering
      ? entering.then(() => this.#gate.pass(attributes, visit.record))
      : this.#gate.pass(attributes, visit.record);
  }

  /** Answers a request for objects, and counts it until its answer is complete. */
  async #serveRoute(exchange: Exchange, { route: found, query, user, visit }: Asked): Promise<void> {
    const { metrics } = this.#options;
    const { route, verb } = found;
    const call = new RequestCall(exchange, verb, route, user);
    const series = metrics.requests.began(verb, route);
    const notes = new RequestNotes();
    const target: Target = { route, query, call, notes, series, visit, isOver: false };
    try {
      const attributes = new RequestAttributes(call, route, query.options);
      const entering = visit.enter(attributes, route, query.options);
      if (entering) await entering;
      const passing = this.#gate.pass(attributes, visit.record);
      if (passing) await passing;
      const goesOn = await this.#serveObjects(exchange, target);
      if (goesOn) return;
      visit.ended();
      this.#over(exchange, target);
    } catch (error) {
      noteAnnotations(visit, notes);
      await this.#fail(exchange, error, { query, warnings: notes.warnings });
      visit.failed(error);
      this.#over(exchange, target, CLIENT_GONE);
    }
  }

  /** A watch that has become a WebSocket has no code of its own any more. */
  #over(exchange: Exchange, target: Target, otherwise = 200): void {
    const { clock, metrics } = this.#options;
    if (target.isOver) return;
    target.isOver = true;
    metrics.requests.ended(target.series, exchange.code || otherwise, (clock.now() - target.visit.began) / 1000);
  }

  async #fail(exchange: Exchange, error: unknown, { query, warnings }: Failing): Promise<void> {
    const { method, url } = exchange;
    if (this.#draining) exchange.closeAfterResponse();
    const own = await sendError(exchange, error, { pretty: isPretty(exchange, query), warnings });
    if (own) this.#options.log.error('a request failed', { method, url: url.slice(0, 200), error: own });
  }

  /** Does ahead what the first client would wait for; for a moment when nobody waits. */
  prepare(): void {
    this.#documents.prepare();
  }

  /** Ends every watch and asks clients to come back on another connection. */
  drain(): void {
    this.#draining = true;
    for (const watch of [...this.#watches]) watch.end();
  }

  /** Says whether the answer goes on. */
  async #serveObjects(exchange: Exchange, target: Target): Promise<boolean> {
    const { route, query, call, notes, visit } = target;
    const { verb } = call;
    const { accept } = exchange.headers;
    const representation = negotiated(route, verb, accept);
    const shape = representation.form && this.#shaping(representation.form, target);
    if (query !== NO_QUERY) call.options = query.options;
    if (verb === 'watch' && route.name !== undefined) call.options = selectName(query.options, route.name);
    else if (verb !== 'get' && verb !== 'list') await visit.without(this.#bodies.read(exchange, route, call));
    visit.record?.brought(call.body);
    const plain = await this.#options.handle(call, notes);
    noteAnnotations(visit, notes);
    const { warnings } = notes;
    const reply = shape ? shapeReply(plain, shape) : plain;
    if (this.#draining) exchange.closeAfterResponse();
    if (reply.type === 'watch') {
      const over = () => {
        visit.ended();
        this.#over(exchange, target);
      };
      await this.#serveWatch(exchange, reply, { warnings, over });
      visit.goesOn(exchange.code || SWITCHING);
      return true;
    }
    if (reply.type === 'stream') {
      await this.#serveText(exchange, reply, visit);
      return false;
    }
    if (visit.record) visit.endsWith(outcomeOf(reply));
    const sending = sendReply(exchange, reply, wishOf(exchange, query, { representation, warnings }));
    if (sending) await sending;
    return false;
  }

  #shaping(form: ObjectForm, { route, query, call }: Target): Shaping {
    checkForm(form, call.verb, route.resource);
    const { clock } = this.#options;
    return { form, include: includeOf(query.includeObject), resource: route.resource, now: () => clock.now() };
  }

  async #serveWatch(exchange: Exchange, reply: WatchReply, { warnings, over }: Lasting): Promise<void> {
    let gone = false;
    let consumer: WatchConsumer | undefined;
    const onGone = () => {
      gone = true;
      if (consumer) this.#watches.delete(consumer);
      reply.stop();
      over();
    };
    try {
      const started = exchange.startWatch(warnings ? warningHeaders(warnings) : NO_HEADERS, onGone);
      consumer = started instanceof Promise ? await started : started;
      if (gone) return;
      this.#watches.add(consumer);
      reply.attach(consumer);
      if (this.#draining) consumer.end();
    } catch (error) {
      consumer?.end();
      reply.stop();
      throw error;
    }
  }

  async #serveText(exchange: Exchange, { contentType, pieces }: StreamReply, visit: Visit): Promise<void> {
    const text = new TextStream(pieces, exchange.startText(contentType, NO_HEADERS));
    visit.goesOn(exchange.code);
    this.#watches.add(text);
    try {
      await text.run();
    } finally {
      this.#watches.delete(text);
    }
  }
}

interface Unrouted {
  readonly path: string;
  readonly query: Query;
  readonly user: User;
  readonly visit: Visit;
}

interface Found {
  readonly route: Route;
  readonly verb: Verb;
}

interface Asked {
  readonly route: Found;
  readonly query: Query;
  readonly user: User;
  readonly visit: Visit;
}

/** A request for objects on its way. */
interface Target {
  readonly route: Route;
  readonly query: Query;
  readonly call: RequestCall;
  readonly notes: RequestNotes;
  readonly series: Series;
  readonly visit: Visit;
  isOver: boolean;
}

interface Failing {
  readonly query: Query;
  readonly warnings?: readonly string[] | undefined;
}

interface Lasting {
  readonly warnings: readonly string[] | undefined;
  /** To be told when the client has gone. */
  readonly over: () => void;
}

interface Answer {
  readonly representation: Representation;
  readonly warnings?: readonly string[] | undefined;
}

function wishOf(exchange: Exchange, query: Query, { representation, warnings }: Answer): Wish {
  return { format: representation.format, pretty: representation.pretty || isPretty(exchange, query), warnings };
}

/** What is noted of an answer that is whole. */
function outcomeOf(reply: Exclude<Reply, WatchReply | StreamReply>): Outcome {
  const status = reply.type === 'status' ? reply.status : undefined;
  return { code: status?.code ?? 200, status, body: () => bytesOf(reply) };
}

function noteAnnotations({ record }: Visit, { annotations }: RequestNotes): void {
  if (!record || !annotations) return;
  for (const key in annotations) record.annotate(key, annotations[key]!);
}

const AS_IT_IS: Representation<ObjectForm> = { format: 'json', pretty: false };

function negotiated({ subresource }: Route, verb: Verb, accept: string | undefined): Representation<ObjectForm> {
  // A log is text, whatever the client would rather have.
  if (subresource?.name === 'log') return AS_IT_IS;
  return verb === 'watch' ? negotiateStream(accept, objectForms) : negotiate(accept, objectForms);
}

function hasNoCredentials({ certificate, authorization, token }: Exchange): boolean {
  return !certificate && !authorization && !token;
}

function isPretty({ headers }: Exchange, { pretty }: Query): boolean {
  return pretty ?? isReadByPeople(headers['user-agent']);
}

/** A watch on one object is a watch on the list with its name; a field selector beside it must agree. */
function selectName(options: CallOptions, name: string): CallOptions {
  const own = `metadata.name=${name}`;
  const given = options.fieldSelector;
  if (!given) return { ...options, fieldSelector: own };
  if (!given.split(',').some((term) => term === own || term === `metadata.name==${name}`)) {
    throw badRequest("fieldSelector metadata.name doesn't match requested name");
  }
  return options;
}
