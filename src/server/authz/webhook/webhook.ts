/** Rights that somebody else knows: each question is a SubjectAccessReview that is posted to him. */
import { type Clock, sleep } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import type { Attributes, Authorizer, Decision, Rules } from '../authorizer.ts';

/** The spec of a review out, its status back. Rejects when there is no answer in time, or none that makes sense. */
export type PostReview = (review: object, signal: AbortSignal) => Promise<ReviewStatus>;

export interface ReviewStatus {
  readonly allowed?: boolean;
  readonly denied?: boolean;
  readonly reason?: string;
  readonly evaluationError?: string;
}

export interface WebhookOptions {
  readonly post: PostReview;
  readonly clock: Clock;
  readonly log: Logger;
  /** Milliseconds for which a yes is remembered. Default: five minutes. */
  readonly allowedTtl?: number;
  /** The same for everything else. Default: half a minute. */
  readonly deniedTtl?: number;
  /** Milliseconds for one try. Default: ten seconds. */
  readonly timeout?: number;
}

interface Remembered {
  readonly decision: Decision;
  readonly until: number;
}

/** How many answers are remembered, and how long a question may be for that. */
const KEPT = 8192;
const LONGEST = 10_000;
/** Milliseconds before the second try; each further one waits half as long again. */
const FIRST_PAUSE = 500;
const TRIES = 4;

export class Webhook implements Authorizer {
  readonly #options: WebhookOptions;
  readonly #known = new Map<string, Remembered>();
  /** Questions under way: who asks the same meanwhile waits for the same answer. */
  readonly #asking = new Map<string, Promise<Decision>>();

  constructor(options: WebhookOptions) {
    this.#options = options;
  }

  authorize(attributes: Attributes): Decision | Promise<Decision> {
    const spec = specOf(attributes);
    const key = JSON.stringify(spec);
    const known = this.#known.get(key);
    if (known && this.#options.clock.now() < known.until) return known.decision;
    let asking = this.#asking.get(key);
    if (!asking) {
      asking = this.#ask(key, spec).finally(() => this.#asking.delete(key));
      this.#asking.set(key, asking);
    }
    return asking;
  }

  rulesFor(): Rules {
    const error = 'webhook authorizer does not support user rule resolution';
    return { resourceRules: [], nonResourceRules: [], incomplete: true, error };
  }

  async #ask(key: string, spec: object): Promise<Decision> {
    try {
      const status = await this.#post(spec);
      const decision = decisionOf(status);
      this.#remember(key, decision, status.allowed === true);
      return decision;
    } catch (error) {
      this.#options.log.error('the authorization webhook gave no answer', { error });
      return { verdict: 'noOpinion', reason: '', error: error instanceof Error ? error.message : String(error) };
    }
  }

  async #post(spec: object): Promise<ReviewStatus> {
    const { clock, post, timeout = 10_000 } = this.#options;
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', metadata: {}, spec };
    for (let tries = 1, pause = FIRST_PAUSE; ; tries++, pause *= 1.5) {
      const tooLate = new AbortController();
      const timer = clock.timer(timeout, () => tooLate.abort(new Error(`no answer in ${timeout} ms`)));
      try {
        return await post(review, tooLate.signal);
      } catch (error) {
        if (tries === TRIES) throw error;
      } finally {
        timer.cancel();
      }
      await sleep(clock, pause);
    }
  }

  #remember(key: string, decision: Decision, isAllowed: boolean): void {
    const { clock, allowedTtl = 300_000, deniedTtl = 30_000 } = this.#options;
    if (key.length > LONGEST) return;
    this.#known.delete(key);
    if (this.#known.size >= KEPT) this.#known.delete(this.#known.keys().next().value!);
    this.#known.set(key, { decision, until: clock.now() + (isAllowed ? allowedTtl : deniedTtl) });
  }
}

function specOf(attributes: Attributes): object {
  const { name, uid, groups, extra } = attributes.user;
  const who = { user: name, groups, ...(uid ? { uid } : {}), ...(extra ? { extra } : {}) };
  if (attributes.path !== undefined) {
    return { nonResourceAttributes: { path: attributes.path, verb: attributes.verb }, ...who };
  }
  const { fieldSelector, labelSelector } = attributes;
  const words = {
    namespace: attributes.namespace,
    verb: attributes.verb,
    group: attributes.group,
    version: attributes.version,
    resource: attributes.resource,
    subresource: attributes.subresource,
    name: attributes.name,
  };
  const resourceAttributes = {
    ...Object.fromEntries(Object.entries(words).filter(([, value]) => value !== '')),
    ...(fieldSelector?.length ? { fieldSelector: { requirements: fieldSelector } } : {}),
    ...(labelSelector?.length ? { labelSelector: { requirements: labelSelector } } : {}),
  };
  return { resourceAttributes, ...who };
}

function decisionOf({ allowed, denied, reason = '', evaluationError }: ReviewStatus): Decision {
  const error =
    denied && allowed ? 'webhook subject access review returned both allow and deny response' : evaluationError;
  const verdict = denied ? 'deny' : allowed ? 'allow' : 'noOpinion';
  return { verdict, reason, ...(error ? { error } : {}) };
}
