/** Converts objects of a custom kind by asking the webhook of its definition. */
import { ApiError } from '../../base/errors.ts';
import { isTree, type Tree } from '../../base/json/tree.ts';
import type { CustomResourceDefinition } from '../../kinds/groups/apiextensions/definition-fields.ts';
import type { AsyncConversion, KubeObject, Version } from '../../kinds/kind.ts';
import { DecodeError, decodeUnlimited } from '../../schema/decode.ts';
import { connectionTo, type WebhookConnection } from '../admission/webhooks/connection.ts';
import type { Core } from '../core.ts';
import { DepthError, parseAnswer } from '../webhooks/parse-answer.ts';

type Conversion = CustomResourceDefinition['spec']['conversion'];

/** How long a conversion may take, as in Kubernetes. */
const TIMEOUT_SECONDS = 30;
/** The versions of ConversionReview that are spoken. */
const REVIEW_VERSIONS: readonly string[] = ['v1', 'v1beta1'];
/** More objects than these are sent in several requests. */
const MAX_OBJECTS_PER_REVIEW = 500;

/** `core` is read when an object is converted: it does not exist when the first kinds are made. */
export function webhookConversion(core: () => Core, { webhook }: Conversion): AsyncConversion {
  const accepted = webhook?.conversionReviewVersions ?? [];
  const review = accepted.find((version) => REVIEW_VERSIONS.includes(version));
  let connection: WebhookConnection | undefined;
  const convertSome = async (objects: readonly KubeObject[], target: Version): Promise<KubeObject[]> => {
    const what = `conversion webhook for ${objects[0]!.apiVersion}, Kind=${objects[0]!.kind}`;
    if (!review || !webhook?.clientConfig) throw failed(`${what} failed: no supported conversion review version`);
    connection ??= connectionTo(core(), webhook.clientConfig as Parameters<typeof connectionTo>[1], TIMEOUT_SECONDS);
    const apiVersion = `apiextensions.k8s.io/${review}`;
    const uid = core().random.uuid();
    const request = { uid, desiredAPIVersion: target.apiVersion, objects: objects.map(withoutLink) };
    const text = await send(core(), connection, { kind: 'ConversionReview', apiVersion, request }, what);
    const pause = core().stages.pause();
    if (pause) await pause;
    return convertedIn(text, { uid, objects, target, what });
  };
  return {
    async convert(objects, target) {
      const converted: KubeObject[] = [];
      for (let at = 0; at < objects.length; at += MAX_OBJECTS_PER_REVIEW) {
        const part = await convertSome(objects.slice(at, at + MAX_OBJECTS_PER_REVIEW), target);
        for (const object of part) converted.push(object);
      }
      return converted;
    },
  };
}

const failed = (message: string, cause?: unknown) => new ApiError('InternalError', message, { cause });

function withoutLink({ metadata, ...object }: KubeObject): object {
  const { selfLink: _, ...own } = metadata;
  return { ...object, metadata: own };
}

async function send(core: Core, { url, post }: WebhookConnection, review: object, what: string): Promise<string> {
  const timeout = new AbortController();
  const late = new Error('context deadline exceeded');
  const timer = core.clock.timer(TIMEOUT_SECONDS * 1000, () => timeout.abort(late));
  try {
    return await post(JSON.stringify(review), timeout.signal);
  } catch (error) {
    throw failed(`${what} failed: Post ${JSON.stringify(url)}: ${(error as Error).message}`, error);
  } finally {
    timer.cancel();
  }
}

interface Expected {
  readonly uid: string;
  readonly objects: readonly KubeObject[];
  readonly target: Version;
  readonly what: string;
}

/** Reads the response. A webhook that answers nonsense costs the caller an error. */
function convertedIn(text: string, { uid, objects, target, what }: Expected): KubeObject[] {
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
  return list.map((each: unknown, i) =>
    completed(each, objects[i]!, target, `${what} returned invalid converted object at index ${i}`),
  );
}

function responseIn(text: string, what: string): Tree {
  let review: unknown;
  try {
    review = parseAnswer(text);
  } catch (error) {
    throw failed(`${what} failed: ${error instanceof DepthError ? error.message : 'the response is not JSON'}`);
  }
  if (!isTree(review) || review.kind !== 'ConversionReview' || !isTree(review.response)) {
    throw failed(`${what} failed: the response is no ConversionReview`);
  }
  return review.response;
}

/** The object in its new version. Of its metadata, only labels and annotations may be others. */
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
