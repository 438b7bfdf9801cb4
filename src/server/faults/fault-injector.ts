import { ApiError, type Reason } from '../../base/errors.ts';
import type { Random } from '../../base/random.ts';
import { type Clock, sleep } from '../../base/time/clock.ts';
import type { Call, Handle, Reply, User } from '../api.ts';
import { droppedAfter, late } from './disturbed-watch.ts';
import type { FaultCode, FaultRule } from './fault.ts';

export interface ActiveFault {
  /** How many requests it has happened to. */
  readonly hits: number;
  remove(): void;
}

interface FaultInjectorOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Whose requests are left alone by faults that name no users. */
  readonly isExempt?: (user: User) => boolean;
  /** The plural of a resource whose requests are left alone. */
  readonly spared?: string;
}

const REASONS: Readonly<Record<FaultCode, Reason>> = {
  409: 'Conflict',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
};

/** How finely rates are told apart. */
const RATE_STEPS = 1_000_000;

/** Lets faults happen to requests. */
export class FaultInjector {
  readonly #options: FaultInjectorOptions;
  readonly #faults = new Set<{ readonly rule: FaultRule; hits: number }>();

  constructor(options: FaultInjectorOptions) {
    this.#options = options;
  }

  add(rule: FaultRule): ActiveFault {
    const fault = { rule, hits: 0 };
    this.#faults.add(fault);
    return {
      get hits() {
        return fault.hits;
      },
      remove: () => void this.#faults.delete(fault),
    };
  }

  /** The same function, with faults. */
  readonly intercept = (handle: Handle): Handle => {
    return async (call, notes) => {
      if (this.#faults.size === 0) return handle(call, notes);
      const rules = this.#hitBy(call);
      const { clock } = this.#options;
      for (const { latencyMs } of rules) if (latencyMs) await sleep(clock, latencyMs, call.signal);
      const failing = rules.find(({ error }) => error !== undefined);
      if (failing) throw injected(failing.error as FaultCode);
      return this.#disturb(await handle(call, notes), rules);
    };
  };

  #disturb(reply: Reply, rules: readonly FaultRule[]): Reply {
    if (reply.type !== 'watch') return reply;
    const { clock } = this.#options;
    let watch = reply;
    for (const { staleWatchesMs, dropWatchesAfterMs } of rules) {
      if (staleWatchesMs) watch = late(watch, clock, staleWatchesMs);
      if (dropWatchesAfterMs !== undefined) watch = droppedAfter(watch, clock, dropWatchesAfterMs);
    }
    return watch;
  }

  /** The faults that happen to this request. */
  #hitBy(call: Call): FaultRule[] {
    const rules: FaultRule[] = [];
    for (const fault of this.#faults) {
      if (!this.#happens(fault.rule, call)) continue;
      fault.hits++;
      if (fault.hits === fault.rule.times) this.#faults.delete(fault);
      rules.push(fault.rule);
    }
    return rules;
  }

  #happens(rule: FaultRule, { verb, plural, namespace = '', user }: Call): boolean {
    const { verbs, resources, namespaces, users, rate = 1 } = rule;
    const { random, isExempt, spared } = this.#options;
    const isMeant =
      plural !== spared &&
      (!verbs || verbs.includes(verb)) &&
      (!resources || resources.includes(plural)) &&
      (!namespaces || namespaces.includes(namespace)) &&
      (users ? users.includes(user.name) : !isExempt?.(user));
    // A fault of watches alone happens to nothing else.
    const isFelt = verb === 'watch' || rule.error !== undefined || rule.latencyMs !== undefined;
    return isMeant && isFelt && (rate >= 1 || random.int(RATE_STEPS) < rate * RATE_STEPS);
  }
}

function injected(code: FaultCode): ApiError {
  const reason = REASONS[code];
  const details = code === 429 ? { details: { retryAfterSeconds: 1 } } : {};
  return new ApiError(reason, `an injected fault: ${code} ${reason}`, details);
}
