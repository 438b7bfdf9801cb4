import type { Clock } from '../../base/clock.ts';
import { badRequest, methodNotAllowed, noSuchPath } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Verb } from '../../kinds/kind.ts';
import type { CallOptions, Handle, User, WatchConsumer, WatchReply } from '../api.ts';
import type { Authenticate } from '../authn/authenticator.ts';
import type { Discovery } from '../discovery/discovery.ts';
import type { Registry } from '../registry.ts';
import { checkForm, includeOf, type ObjectForm, objectForms } from '../representations/forms.ts';
import { type Shaping, shapeReply } from '../representations/reply.ts';
import { negotiate, negotiateStream, type Representation } from './accept.ts';
import { decodeObject, decodeOptions, decodePatch, formatOf, patchTypeOf, refuseEncoding } from './body.ts';
import { HttpError } from './errors.ts';
import { type Exchange, NO_HEADERS } from './exchange.ts';
import type { Limits } from './limits.ts';
import { NO_QUERY, parseQuery, type Query, withoutDeleteOptions } from './query.ts';
import { RequestCall } from './request-call.ts';
import { isReadByPeople, sendDocument, sendError, sendReply, type Wish, warningHeaders } from './respond.ts';
import { findRoute, type Route, splitPath, verbOf } from './route.ts';
import { SchemaDocuments } from './schema-documents.ts';

export interface PipelineOptions {
  readonly handle: Handle;
  readonly registry: Registry;
  readonly discovery: Discovery;
  readonly isReady: () => boolean;
  readonly limits: Limits;
  readonly log: Logger;
  readonly clock: Clock;
}

const TEXT = 'text/plain; charset=utf-8';
const NO_SNIFF = ['X-Content-Type-Options', 'nosniff'];
const NO_PAGE = Buffer.from('404 page not found\n');

/** The way of a request: authenticate, route, decode, hand over, answer. */
export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #watches = new Set<WatchConsumer>();
  readonly #schemas: SchemaDocuments;
  #draining = false;

  constructor(options: PipelineOptions) {
    this.#options = options;
    this.#schemas = new SchemaDocuments(options.registry);
  }

  /** Answers one request, whatever happens. */
  async serve(exchange: Exchange, authenticate: Authenticate): Promise<void> {
    const { limits, log } = this.#options;
    let query = NO_QUERY;
    try {
      const { url } = exchange;
      if (url.length > limits.url) throw new HttpError(414, `the URL is longer than ${limits.url} characters`);
      const mark = url.indexOf('?');
      const path = mark < 0 ? url : url.slice(0, mark);
      if (this.#answerHealth(exchange, path)) return;
      const found = authenticate(exchange);
      const user = found instanceof Promise ? await found : found;
      if (mark >= 0) query = parseQuery(url.slice(mark + 1));
      const route = findRoute(path, this.#options.registry);
      if (route) await this.#serveObjects(exchange, { route, query, user });
      else await this.#serveDocument(exchange, path, query);
    } catch (error) {
      if (this.#draining) exchange.lastOne();
      const own = await sendError(exchange, error, isPretty(exchange, query));
      if (own) log.error('a request failed', { method: exchange.method, url: exchange.url.slice(0, 200), error: own });
    }
  }

  /** Ends every watch and asks clients to come back on another connection. */
  drain(): void {
    this.#draining = true;
    for (const watch of [...this.#watches]) watch.end();
  }

  async #serveObjects(exchange: Exchange, { route, query, user }: Target): Promise<void> {
    const verb = verbOf(exchange.method, route, query.watch);
    const { accept } = exchange.headers;
    const representation = verb === 'watch' ? negotiateStream(accept, objectForms) : negotiate(accept, objectForms);
    const shape = representation.form && this.#shaping(representation.form, { route, query, user }, verb);
    const call = new RequestCall(exchange, verb, route, user);
    if (query !== NO_QUERY) call.options = query.options;
    if (verb === 'watch' && route.name !== undefined) call.options = selectName(query.options, route.name);
    else if (verb !== 'get' && verb !== 'list') await this.#readBody(exchange, route, call);
    const plain = await this.#options.handle(call);
    const { warnings } = plain;
    const reply = shape ? shapeReply(plain, shape) : plain;
    if (this.#draining) exchange.lastOne();
    if (reply.type === 'watch') return this.#serveWatch(exchange, reply, warnings);
    return sendReply(exchange, reply, wishOf(exchange, query, { representation, warnings }));
  }

  #shaping(form: ObjectForm, { route, query }: Target, verb: Verb): Shaping {
    checkForm(form, verb, route.resource);
    const { clock } = this.#options;
    return { form, include: includeOf(query.includeObject), resource: route.resource, now: () => clock.now() };
  }

  async #readBody(exchange: Exchange, route: Route, call: RequestCall): Promise<void> {
    const { headers } = exchange;
    const { limits } = this.#options;
    const duplicates =
      call.options?.fieldValidation === 'Ignore'
        ? undefined
        : (paths: readonly string[]) => {
            call.duplicates = paths;
          };
    switch (call.verb) {
      case 'create':
      case 'update': {
        const format = formatOf(headers['content-type']);
        refuseEncoding(headers['content-encoding']);
        const kind = route.subresource?.kind ?? route.resource.kind.kind;
        const decoded = decodeObject(await together(exchange.body()), format, { kind, limits, duplicates });
        call.body = decoded instanceof Promise ? await decoded : decoded;
        return;
      }
      case 'patch':
        call.patchType = patchTypeOf(headers['content-type']);
        refuseEncoding(headers['content-encoding']);
        call.body = decodePatch(await together(exchange.body()), call.patchType, { limits, duplicates });
        return;
      case 'delete':
      case 'deletecollection':
        if (exchange.hasBody()) await this.#readDeleteOptions(exchange, call);
        return;
      case 'get':
      case 'list':
      case 'watch':
        return;
      default:
        call.verb satisfies never;
    }
  }

  async #readDeleteOptions(exchange: Exchange, call: RequestCall): Promise<void> {
    refuseEncoding(exchange.headers['content-encoding']);
    const bytes = await together(exchange.body());
    if (bytes.length === 0) return;
    call.body = await decodeOptions(bytes, formatOf(exchange.headers['content-type']), this.#options.limits);
    if (call.options) call.options = withoutDeleteOptions(call.options);
  }

  async #serveWatch(exchange: Exchange, reply: WatchReply, warnings: readonly string[] | undefined): Promise<void> {
    let gone = false;
    let consumer: WatchConsumer | undefined;
    const onGone = () => {
      gone = true;
      if (consumer) this.#watches.delete(consumer);
      reply.stop();
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

  /** What is not an object: discovery, the version, the list of paths, the schemas; or nothing at all. */
  async #serveDocument(exchange: Exchange, path: string, query: Query): Promise<void> {
    const parts = splitPath(path);
    const { discovery } = this.#options;
    const document = discovery.document(parts.length === 2 && parts[1] === '' ? '' : parts.join('/'));
    if (document) {
      if (exchange.method !== 'GET' && exchange.method !== 'HEAD') throw methodNotAllowed();
      const representation = negotiate(exchange.headers.accept);
      return sendDocument(exchange, document, wishOf(exchange, query, { representation }));
    }
    if (await this.#schemas.serve(exchange, parts.join('/'))) return;
    const [, root, group] = parts;
    if (root === 'api' || (root === 'apis' && group && discovery.hasGroup(group))) throw noSuchPath();
    exchange.reply(404, TEXT, NO_PAGE, NO_SNIFF);
  }

  /** Open to everyone: who asks whether the server lives has often no credentials, and learns nothing else. */
  #answerHealth(exchange: Exchange, path: string): boolean {
    switch (path) {
      case '/livez':
        exchange.reply(200, TEXT, Buffer.from('ok'), NO_SNIFF);
        return true;
      case '/healthz':
      case '/readyz': {
        const ready = !this.#draining && this.#options.isReady();
        const body = ready ? 'ok' : `${path.slice(1)} check failed\n`;
        exchange.reply(ready ? 200 : 503, TEXT, Buffer.from(body), NO_SNIFF);
        return true;
      }
      default:
        return false;
    }
  }
}

interface Target {
  readonly route: Route;
  readonly query: Query;
  readonly user: User;
}

interface Answer {
  readonly representation: Representation;
  readonly warnings?: readonly string[] | undefined;
}

function wishOf(exchange: Exchange, query: Query, { representation, warnings }: Answer): Wish {
  return { format: representation.format, pretty: representation.pretty || isPretty(exchange, query), warnings };
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

let waiting: (() => void)[] = [];

/**
 * Requests whose bodies arrive in the same turn of the loop are worked on one right after the other, when all of them
 * have been read: the code for each stage stays in the processor's cache, which nearly halves what a write costs.
 */
async function together(body: Promise<Buffer>): Promise<Buffer> {
  const bytes = await body;
  await new Promise<void>((resolve) => {
    if (waiting.push(resolve) > 1) return;
    setImmediate(() => {
      const ready = waiting;
      waiting = [];
      for (const each of ready) each();
    });
  });
  return bytes;
}
