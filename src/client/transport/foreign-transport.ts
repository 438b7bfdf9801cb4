/** Checks the responses of untrusted servers: types of metadata, and sizes of lists and messages. */
import { ApiError } from '../../api/errors.ts';
import { isTree, type Tree } from '../../base/json/tree.ts';
import type { Verb } from '../../kinds/kind.ts';
import { errorOfStatus } from '../status-error.ts';
import type { Answer, ListMeta, RawEvent, Request, Transport, WatchStream } from './transport.ts';

interface ForeignOptions {
  /** The name of the server in messages. */
  readonly peer: string;
  /** Limit for all pages of a list together. */
  readonly maxListBytes: number;
}

/** Limit for messages of other servers, which end up in logs, events and conditions. */
const MAX_MESSAGE_LENGTH = 2_000;

export function foreignTransport(transport: Transport, { peer, maxListBytes }: ForeignOptions): Transport {
  return {
    maxListBytes,
    call: (request) => withShortMessage(async () => checkedAnswer(await transport.call(request), request, peer)),
    watch: (request) => withShortMessage(async () => checkedStream(await transport.watch(request), peer)),
  };
}

async function withShortMessage<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ApiError ? shortened(error) : error;
  }
}

function shortened(error: ApiError): ApiError {
  if (error.message.length <= MAX_MESSAGE_LENGTH) return error;
  return new ApiError(error.reason, `${error.message.slice(0, MAX_MESSAGE_LENGTH)} ...`);
}

/** Verbs whose responses are objects; some subresources respond with a Status. */
const OBJECT_VERBS: ReadonlySet<Verb> = new Set(['get', 'list', 'create', 'update', 'patch']);

function checkedAnswer(answer: Answer, request: Request, peer: string): Answer {
  switch (answer.type) {
    case 'object':
      checkMetadata(answer.object, peer);
      return answer;
    case 'list':
      for (const item of answer.items) checkMetadata(item, peer);
      return { ...answer, metadata: checkVersion(answer.metadata) };
    case 'status':
      if (answer.status.status === 'Failure') throw errorOfStatus(answer.status);
      if (OBJECT_VERBS.has(request.verb) && request.subresource === undefined)
        throw new ApiError('InternalError', `${peer} sent a Status in the place of ${request.plural}`);
      return answer;
  }
}

function checkedStream(stream: WatchStream, peer: string): WatchStream {
  async function* batches() {
    for await (const batch of stream) {
      yield batch.map((event) => checkedEvent(event, peer));
    }
  }
  return { [Symbol.asyncIterator]: batches, close: () => stream.close() };
}

const EVENTS: ReadonlySet<unknown> = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR']);

function checkedEvent(event: RawEvent, peer: string): RawEvent {
  if (!EVENTS.has(event?.type)) throw new ApiError('InternalError', `${peer} sent an unknown event`);
  if (event.type === 'ERROR') return { type: 'ERROR', object: shortened(errorOfStatus(event.object)).toStatus() };
  checkMetadata(event.object, peer);
  return event;
}

const REFERENCE_TEXTS = ['apiVersion', 'kind', 'name', 'uid'] as const;

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isReference: Check = (value) => isTree(value) && REFERENCE_TEXTS.every((field) => isText(value[field]));
const optional =
  (isRight: Check): Check =>
  (value) =>
    value === undefined || isRight(value);
const listOf = (isRight: Check) => optional((value) => Array.isArray(value) && value.every(isRight));
const texts = optional((value) => isTree(value) && Object.values(value).every(isText));

/** The metadata fields that controllers read. */
const FIELDS: Readonly<Record<string, Check>> = {
  name: optional(isText),
  namespace: optional(isText),
  uid: optional(isText),
  resourceVersion: optional(isText),
  deletionTimestamp: optional(isText),
  labels: texts,
  annotations: texts,
  finalizers: listOf(isText),
  ownerReferences: listOf(isReference),
};

/** Throws an ApiError unless the metadata fields that controllers read are well typed. Removes null fields. */
function checkMetadata(object: unknown, peer: string): void {
  const field = malformedField(object);
  if (field) throw new ApiError('InternalError', `${peer} sent an object with malformed ${field}`);
}

function malformedField(object: unknown): string | undefined {
  const metadata = isTree(object) ? object.metadata : undefined;
  if (!isTree(metadata)) return 'metadata';
  for (const [key, value] of Object.entries(metadata)) if (value === null) Reflect.deleteProperty(metadata, key);
  const wrong = Object.entries(FIELDS).find(([field, isRight]) => !isRight(metadata[field]));
  return wrong && `metadata.${wrong[0]}`;
}

/** Checks the metadata of a list, which some servers leave out. */
function checkVersion(metadata: unknown): ListMeta {
  const { resourceVersion, continue: next, remainingItemCount } = isTree(metadata) ? metadata : ({} as Tree);
  return {
    resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : '',
    continue: typeof next === 'string' && next ? next : undefined,
    remainingItemCount: typeof remainingItemCount === 'number' ? remainingItemCount : undefined,
  };
}
