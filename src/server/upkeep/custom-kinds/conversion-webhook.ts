/** Converts objects of a custom kind with the webhook of its definition. */
import { ApiError } from '../../../api/errors.ts';
import { isTree, type Tree } from '../../../base/json/tree.ts';
import type { CustomResourceDefinition } from '../../../kinds/groups/extension/apiextensions/definition-fields.ts';
import type { AsyncConversion, KubeObject, Version } from '../../../kinds/kind.ts';
import { DecodeError, decodeUnlimited } from '../../../schema/decode/decode.ts';
import type { Reader, Tools } from '../../objects/ports.ts';
import type { Writer } from '../../objects/transaction/ports.ts';
import { connectionTo, type WebhookConnection } from '../../operations/admission/webhooks/connection.ts';
import type { Outbound } from '../../outbound/ports.ts';
import { parseAnswer } from '../../outbound/webhooks/post.ts';

type Ports = Pick<Reader, 'cache'> & Pick<Writer, 'stages'> & Pick<Tools, 'clock' | 'random'> & Outbound;

type Conversion = CustomResourceDefinition['spec']['conversion'];

/** Timeout of a conversion, as in Kubernetes. */
const TIMEOUT_SECONDS = 30;
/** The supported versions of ConversionReview. */
const REVIEW_VERSIONS: readonly string[] = ['v1', 'v1beta1'];
/** Limits for the objects in one request, so that responses are bounded; more are sent in several requests. */
const MAX_OBJECTS_PER_REVIEW = 500;
const MAX_REVIEW_BYTES = 2 * 1024 * 1024;
/** Limit for fields, list items, objects and lists in a response: more than the largest object has. */
const MAX_PARTS = 600_000;
const MAX_MESSAGE_LENGTH = 10_000;

export function webhookConversion(core: Ports, { webhook }: Conversion): AsyncConversion {
  const accepted = webhook?.conversionReviewVersions ?? [];
  const review = accepted.find((version) => REVIEW_VERSIONS.includes(version));
  let connection: WebhookConnection | undefined;
  const convertSome = async ({ objects, json }: Batch, target: Version): Promise<KubeObject[]> => {
    const what = `conversion webhook for ${objects[0]!.apiVersion}, Kind=${objects[0]!.kind}`;
    if (!review || !webhook?.clientConfig) throw failed(`${what} failed: no supported conversion review version`);
    connection ??= connectionTo(core, webhook.clientConfig as Parameters<typeof connectionTo>[1], TIMEOUT_SECONDS);
    const apiVersion = `apiextensions.k8s.io/${review}`;
    const uid = core.random.uuid();
    const fields = JSON.stringify({ uid, desiredAPIVersion: target.apiVersion }).slice(1, -1);
    const body = `{"kind":"ConversionReview","apiVersion":"${apiVersion}","request":{${fields},"objects":${json}}}`;
    const text = await send(core, connection, body, what);
    const { stages } = core;
    const pause = stages.pause();
    if (pause) await pause;
    const list = listIn(text, { uid, objects, what });
    const converted: KubeObject[] = [];
    for (const [i, each] of list.entries()) {
      const next = stages.pause();
      if (next) await next;
      const problem = `${what} returned invalid converted object at index ${i}`;
      converted.push(completed(each, objects[i]!, target, problem));
    }
    return converted;
  };
  return {
    async convert(objects, target) {
      const converted: KubeObject[] = [];
      while (converted.length < objects.length) {
        const batch = await nextBatch(core, objects, converted.length);
        for (const object of await convertSome(batch, target)) converted.push(object);
      }
      return converted;
    },
  };
}

interface Batch {
  readonly objects: readonly KubeObject[];
  readonly json: string;
}

async function nextBatch({ stages }: Ports, objects: readonly KubeObject[], start: number): Promise<Batch> {
  const texts: string[] = [];
  for (let length = 0; texts.length < Math.min(MAX_OBJECTS_PER_REVIEW, objects.length - start); ) {
    const text = JSON.stringify(withoutLink(objects[start + texts.length]!));
    length += text.length;
    if (texts.length > 0 && length > MAX_REVIEW_BYTES) break;
    texts.push(text);
    const pause = stages.pause();
    if (pause) await pause;
  }
  return { objects: objects.slice(start, start + texts.length), json: `[${texts.join(',')}]` };
}

const failed = (message: string, cause?: unknown) =>
  new ApiError('InternalError', message.slice(0, MAX_MESSAGE_LENGTH), { cause });

function withoutLink({ metadata, ...object }: KubeObject): object {
  const { selfLink: _, ...own } = metadata;
  return { ...object, metadata: own };
}

async function send(core: Ports, { url, post }: WebhookConnection, review: string, what: string): Promise<string> {
  const timeout = new AbortController();
  const late = new Error('context deadline exceeded');
  const timer = core.clock.timer(TIMEOUT_SECONDS * 1000, () => timeout.abort(late));
  try {
    return await post(review, timeout.signal);
  } catch (error) {
    throw failed(`${what} failed: Post ${JSON.stringify(url)}: ${(error as Error).message}`, error);
  } finally {
    timer.cancel();
  }
}

interface Expected {
  readonly uid: string;
  readonly objects: readonly KubeObject[];
  readonly what: string;
}

/** Parses the list in the response. An invalid response is an error for the caller. */
function listIn(text: string, { uid, objects, what }: Expected): readonly unknown[] {
  const response = responseIn(text, what);
  const { result } = response;
  if (response.uid !== uid) throw failed(`${what} failed: the response is for another request`);
  if (!isTree(result) || result.status !== 'Success') {
    const message =
      isTree(result) && typeof result.message === 'string' ? result.message : 'response.result.status was not Success';
    throw failed(`${what} failed: ${message}`);
  }
  const { convertedObjects: list = [] } = response;
  if (!Array.isArray(list) || list.length !== objects.length) {
    const count = Array.isArray(list) ? list.length : 0;
    throw failed(`${what} returned ${count} objects, expected ${objects.length}`);
  }
  return list;
}

function responseIn(text: string, what: string): Tree {
  let review: unknown;
  try {
    review = parseAnswer(text, MAX_PARTS);
  } catch (error) {
    throw failed(
      `${what} failed: ${error instanceof SyntaxError ? 'the response is not JSON' : (error as Error).message}`,
    );
  }
  if (!isTree(review) || review.kind !== 'ConversionReview' || !isTree(review.response)) {
    throw failed(`${what} failed: the response is no ConversionReview`);
  }
  return review.response;
}

/** Returns the object in its new version. Of its metadata, only labels and annotations may have changed. */
function completed(converted: unknown, original: KubeObject, target: Version, what: string): KubeObject {
  if (!isTree(converted) || converted.kind !== original.kind || converted.apiVersion !== target.apiVersion) {
    throw failed(`${what}: it is not ${target.apiVersion}, Kind=${original.kind}`);
  }
  const { metadata } = converted;
  if (!isTree(metadata)) throw failed(`${what}: it has no metadata`);
  for (const field of ['name', 'namespace', 'uid'] as const) {
    if ((metadata[field] ?? '') !== (original.metadata[field] ?? '')) {
      throw failed(`${what}: must have the same ${field}: ${metadata[field]} != ${original.metadata[field]}`);
    }
  }
  const { labels, annotations } = metadata;
  const { labels: _, annotations: __, ...kept } = original.metadata;
  const own = { ...kept, ...(labels ? { labels } : {}), ...(annotations ? { annotations } : {}) };
  try {
    const object = decodeUnlimited(target.schema, { ...converted, metadata: own });
    return { ...object, metadata: { ...object.metadata, ...kept } };
  } catch (error) {
    if (error instanceof DecodeError) throw failed(`${what}: ${error.message}`, error);
    throw error;
  }
}
