/** Delegates authorization to another program by posting SubjectAccessReviews. */
import { BoundedMap, textBytes } from '../../../../base/collections/bounded-map.ts';
import { getOrInsert } from '../../../../base/collections/get-or-insert.ts';
import { sleep } from '../../../../base/time/clock.ts';
import type { Tools } from '../../../../base/tools.ts';
import type { Attributes, Authorizer, Decision, Rules } from '../authorizer.ts';

/** Posts a review and returns its status. Rejects if there is no valid answer in time. */
export type PostReview = (review: object, signal: AbortSignal) => Promise<ReviewStatus>;

export interface ReviewStatus {
  readonly allowed?: boolean;
  readonly denied?: boolean;
  readonly reason?: string;
  readonly evaluationError?: string;
}

export interface WebhookOptions extends Pick<Tools, 'clock' | 'log'> {
  readonly post: PostReview;
  /** Timeout of an attempt. */
  readonly timeoutMs?: number;
}

interface CachedDecision {
  readonly decision: Decision;
  readonly expires: number;
}

const MAX_CACHED_BYTES = 8 * 1024 * 1024;
const DECISION_BYTES = 200;
/** Time for which an `allow` is cached. */
const ALLOWED_TTL_MS = 300_000;
/** Time for which any other decision is cached. */
const DENIED_TTL_MS = 30_000;
const TIMEOUT_MS = 10_000;
/** Delay before the second attempt; each further delay is 1.5 times as long. */
const INITIAL_BACKOFF_MS = 500;
const BACKOFF_FACTOR = 1.5;
const MAX_ATTEMPTS = 4;

export class Webhook implements Authorizer {
  readonly #cache = new BoundedMap<CachedDecision>({
    maxBytes: MAX_CACHED_BYTES,
    bytesOf: ({ decision }) => DECISION_BYTES + textBytes(decision.reason),
  });
  /** Reviews in progress, shared by concurrent requests that need the same one. */
  readonly #pending = new Map<string, Promise<Decision>>();

  constructor(private readonly options: WebhookOptions) {}

  authorize(attributes: Attributes): Decision | Promise<Decision> {
    const spec = specOf(attributes);
    const key = JSON.stringify(spec);
    const cached = this.#cache.get(key);
    if (cached && this.options.clock.now() < cached.expires) return cached.decision;
    return getOrInsert(this.#pending, key, () => this.#review(key, spec).finally(() => this.#pending.delete(key)));
  }

  rulesFor(): Rules {
    const error = 'webhook authorizer does not support user rule resolution';
    return { resourceRules: [], nonResourceRules: [], incomplete: true, error };
  }

  async #review(key: string, spec: object): Promise<Decision> {
    try {
      const status = await this.#post(spec);
      const decision = decisionOf(status);
      this.#store(key, decision, status.allowed === true);
      return decision;
    } catch (error) {
      this.options.log.error('the authorization webhook did not answer', { error });
      return { verdict: 'noOpinion', reason: '', error: error instanceof Error ? error.message : String(error) };
    }
  }

  async #post(spec: object): Promise<ReviewStatus> {
    const { clock, post, timeoutMs = TIMEOUT_MS } = this.options;
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', metadata: {}, spec };
    for (let attempt = 1, backoffMs = INITIAL_BACKOFF_MS; ; attempt++, backoffMs *= BACKOFF_FACTOR) {
      const timeout = new AbortController();
      const timer = clock.timer(timeoutMs, () => timeout.abort(new Error(`no answer in ${timeoutMs} ms`)));
      try {
        return await post(review, timeout.signal);
      } catch (error) {
        if (attempt === MAX_ATTEMPTS) throw error;
      } finally {
        timer.cancel();
      }
      await sleep(clock, backoffMs);
    }
  }

  #store(key: string, decision: Decision, isAllowed: boolean): void {
    const expires = this.options.clock.now() + (isAllowed ? ALLOWED_TTL_MS : DENIED_TTL_MS);
    this.#cache.set(key, { decision, expires });
  }
}

function specOf(attributes: Attributes): object {
  const { name, uid, groups, extra } = attributes.user;
  const subject = { user: name, groups, uid: uid || undefined, extra };
  if (attributes.path !== undefined) {
    return { nonResourceAttributes: { path: attributes.path, verb: attributes.verb }, ...subject };
  }
  const { fieldSelector, labelSelector } = attributes;
  const fields = {
    namespace: attributes.namespace,
    verb: attributes.verb,
    group: attributes.group,
    version: attributes.version,
    resource: attributes.resource,
    subresource: attributes.subresource,
    name: attributes.name,
  };
  const resourceAttributes = {
    ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== '')),
    ...(fieldSelector?.length ? { fieldSelector: { requirements: fieldSelector } } : {}),
    ...(labelSelector?.length ? { labelSelector: { requirements: labelSelector } } : {}),
  };
  return { resourceAttributes, ...subject };
}

function decisionOf({ allowed, denied, reason = '', evaluationError }: ReviewStatus): Decision {
  const error =
    denied && allowed ? 'webhook subject access review returned both allow and deny response' : evaluationError;
  const verdict = denied ? 'deny' : allowed ? 'allow' : 'noOpinion';
  return { verdict, reason, error: error || undefined };
}
