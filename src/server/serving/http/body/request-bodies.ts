/** Reads request bodies according to their verbs. The memory of a large body is freed as soon as it is decoded. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CallOptions } from '../../../../api/call.ts';
import { ApiError } from '../../../../api/errors.ts';
import { free } from '../../../../base/bytes/shared-buffer.ts';
import { inTurns } from '../../../../base/event-loop/in-turns.ts';
import type { Verb } from '../../../../kinds/kind.ts';
import type { Registry } from '../../../objects/registry/registry.ts';
import { countColons, searchDuplicateKeys } from '../../codec/json-duplicates.ts';
import type { DecodeYaml } from '../../codec/yaml.ts';
import type { Exchange } from '../../exchange.ts';
import { ProtobufBodies } from '../../protobuf/bodies.ts';
import type { Limits } from '../limits.ts';
import { NO_CONTENT, type RequestContent } from '../pipeline/request-call.ts';
import type { Route } from '../route/route.ts';
import {
  decodeConfiguration,
  decodeObject,
  decodeOptions,
  decodePatch,
  formatOf,
  patchTypeOf,
  rejectEncoding,
} from './decode-body.ts';

/** The properties of a request that determine how its body is read. */
interface BodyContext {
  readonly route: Route;
  readonly verb: Verb;
  readonly options: CallOptions | undefined;
  /** Called whenever work on the body begins or continues in another turn of the event loop. */
  readonly begin: () => void;
}

/** Size from which the steps of processing a body run in separate turns of the event loop. */
const LARGE_BODY_BYTES = 256 * 1024;

/** Limit for the fields of an object in a merge patch, because merging is done in one turn of the event loop. */
const MAX_PATCH_FIELDS = 60_000;

const tooManyFields = () =>
  new ApiError(
    'RequestEntityTooLarge',
    `Request entity too large: The allowed maximum fields in a merge patch is ${MAX_PATCH_FIELDS}`,
  );

export class RequestBodies {
  readonly #limits: Limits;
  readonly #protobuf: ProtobufBodies;

  /** `decodeLargeYaml` decodes large YAML texts. Default: on the event loop. */
  constructor(
    registry: Registry,
    limits: Limits,
    private readonly decodeLargeYaml?: DecodeYaml | undefined,
  ) {
    this.#limits = limits;
    this.#protobuf = new ProtobufBodies(registry, limits.maxDepth);
  }

  read(exchange: Exchange, context: BodyContext): Promise<RequestContent> {
    const { route, verb } = context;
    // A request that opens a connection, such as exec, has its options in the query.
    if (route.subresource?.descriptor.content.type === 'connection') return Promise.resolve(NO_CONTENT);
    switch (verb) {
      case 'create':
      case 'update':
        return this.#readObject(exchange, context);
      case 'patch':
        return this.#readPatch(exchange, context);
      case 'delete':
      case 'deletecollection':
        return exchange.hasBody() ? this.#readDeleteOptions(exchange, context) : Promise.resolve(NO_CONTENT);
      case 'get':
      case 'list':
      case 'watch':
        return Promise.resolve(NO_CONTENT);
      default:
        return verb satisfies never;
    }
  }

  async #readObject(exchange: Exchange, { route, options, begin }: BodyContext): Promise<RequestContent> {
    const { headers } = exchange;
    const { kind, apiVersion } = route.subresource?.body ?? kindOf(route);
    const format = formatOf(headers['content-type']);
    rejectEncoding(headers['content-encoding']);
    const bytes = await batched(exchange.body());
    begin();
    try {
      const isLarge = format === 'json' && bytes.length > LARGE_BODY_BYTES;
      let duplicates: readonly string[] | undefined;
      const decoded = decodeObject(bytes, format, {
        kind,
        apiVersion,
        confidential: route.resource.kind.confidential === true,
        limits: this.#limits,
        onDuplicates:
          isLarge || ignoresDuplicates(options)
            ? undefined
            : (paths) => {
                duplicates = paths;
              },
        protobuf: this.#protobuf,
        decodeLargeYaml: this.decodeLargeYaml,
      });
      const body = decoded instanceof Promise ? await decoded : decoded;
      if (!isLarge) return { body, duplicates };
      return { body, duplicates: await this.#duplicatesOf(bytes, body, { options, begin }) };
    } finally {
      // Objects decoded from protobuf may reference the bytes.
      if (format !== 'protobuf') free(bytes);
    }
  }

  /** Finds duplicate fields in a large body. Other requests are served before and after that. */
  async #duplicatesOf(
    bytes: Buffer,
    body: unknown,
    { options, begin }: Pick<BodyContext, 'options' | 'begin'>,
  ): Promise<readonly string[] | undefined> {
    await nextTurn();
    if (ignoresDuplicates(options)) return undefined;
    begin();
    const turns = { nextTurn: () => nextTurn().then(begin) };
    const duplicates = await inTurns(turns, searchDuplicateKeys(bytes, body));
    await nextTurn();
    return duplicates;
  }

  async #readPatch(exchange: Exchange, { options, begin }: BodyContext): Promise<RequestContent> {
    const { headers } = exchange;
    const patchType = patchTypeOf(headers['content-type']);
    rejectEncoding(headers['content-encoding']);
    const bytes = await batched(exchange.body());
    begin();
    try {
      const isLarge = bytes.length > LARGE_BODY_BYTES;
      if (isLarge && patchType !== 'json' && countColons(bytes) > MAX_PATCH_FIELDS) throw tooManyFields();
      let duplicates: readonly string[] | undefined;
      const onDuplicates =
        isLarge || ignoresDuplicates(options)
          ? undefined
          : (paths: readonly string[]) => {
              duplicates = paths;
            };
      const context = { limits: this.#limits, onDuplicates, decodeLargeYaml: this.decodeLargeYaml };
      const body =
        patchType === 'apply' ? await decodeConfiguration(bytes, context) : decodePatch(bytes, patchType, context);
      if (isLarge && patchType !== 'apply') duplicates = await this.#duplicatesOf(bytes, body, { options, begin });
      return { body, duplicates, patchType };
    } finally {
      free(bytes);
    }
  }

  async #readDeleteOptions(exchange: Exchange, { begin }: BodyContext): Promise<RequestContent> {
    rejectEncoding(exchange.headers['content-encoding']);
    const bytes = await batched(exchange.body());
    begin();
    if (bytes.length === 0) return NO_CONTENT;
    const context = {
      apiVersion: 'v1',
      limits: this.#limits,
      protobuf: this.#protobuf,
      decodeLargeYaml: this.decodeLargeYaml,
    };
    const body = await decodeOptions(bytes, formatOf(exchange.headers['content-type']), context);
    return { body };
  }
}

function kindOf({ resource: { kind, version } }: Route): { readonly kind: string; readonly apiVersion: string } {
  return { kind: kind.kind, apiVersion: version.apiVersion };
}

function ignoresDuplicates(options: CallOptions | undefined): boolean {
  return options?.fieldValidation === 'Ignore';
}

/** Number of bodies handled at a time: while the next ones are handled, the disk is busy with the writes of these. */
const BATCH_SIZE = 8;
/** Size at which a batch ends: decoding a large body takes most of the time that a turn may take. */
const MAX_BATCH_BYTES = 256 * 1024;

interface Waiting {
  readonly bytes: number;
  resolve(): void;
}

const waiting: Waiting[] = [];

/**
 * Waits until the other bodies that arrive in this turn of the event loop have been read, so that their requests are handled
 * one right after the other: the code of each stage then stays in the processor's cache, which makes a write a fifth cheaper.
 */
export async function batched(body: Promise<Buffer>): Promise<Buffer> {
  const bytes = await body;
  await new Promise<void>((resolve) => {
    if (waiting.push({ bytes: bytes.length, resolve }) === 1) setImmediate(releaseBatch);
  });
  return bytes;
}

function releaseBatch(): void {
  let count = 0;
  for (let bytes = 0; count < Math.min(BATCH_SIZE, waiting.length) && bytes <= MAX_BATCH_BYTES; count++) {
    bytes += waiting[count]!.bytes;
  }
  for (const { resolve } of waiting.splice(0, count)) resolve();
  if (waiting.length > 0) setImmediate(releaseBatch);
}
