import type { Call, Handle } from '../../../api/call.ts';
import { ApiError, type Reason } from '../../../api/errors.ts';
import type { WatchReply } from '../../../api/reply.ts';
import type { User } from '../../../api/user.ts';
import { sleep } from '../../../base/time/clock.ts';
import type { Tools } from '../../../base/tools.ts';
import { DroppableWatch, late } from './disturbed-watch.ts';
import type { FaultCode, FaultRule } from './fault.ts';

export interface ActiveFault {
  readonly hits: number;
  remove(): void;
}

interface FaultInjectorOptions extends Pick<Tools, 'clock' | 'random'> {
  /** Reports whether the requests of a user are exempt from faults that name no users. */
  readonly isExempt?: (user: User) => boolean;
  /** The plural of a resource whose requests are exempt. */
  readonly spared?: string;
}

const REASONS: Readonly<Record<FaultCode, Reason>> = {
  409: 'Conflict',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
};

/** Resolution of rates. */
const RATE_STEPS = 1_000_000;

const NO_RULES: readonly FaultRule[] = [];

interface CountedFault {
  readonly rule: FaultRule;
  hits: number;
}

export class FaultInjector {
  readonly #faults = new Set<CountedFault>();
  readonly #watches = new Map<DroppableWatch, Call>();

  constructor(private readonly options: FaultInjectorOptions) {}

  add(rule: FaultRule): ActiveFault {
    const fault = { rule, hits: 0 };
    this.#faults.add(fault);
    this.#disturbRunning(fault);
    return {
      get hits() {
        return fault.hits;
      },
      remove: () => void this.#faults.delete(fault),
    };
  }

  readonly intercept = (handle: Handle): Handle => {
    return async (call, notes) => {
      const rules = this.#faults.size === 0 ? NO_RULES : this.#hitBy(call);
      const { clock } = this.options;
      for (const { latencyMs } of rules) if (latencyMs) await sleep(clock, latencyMs, call.signal);
      const failing = rules.find(({ error }) => error !== undefined);
      if (failing) throw injected(failing.error as FaultCode);
      const reply = await handle(call, notes);
      return reply.type === 'watch' ? this.#watch(reply, call, rules) : reply;
    };
  };

  #watch(reply: WatchReply, call: Call, rules: readonly FaultRule[]): WatchReply {
    const { clock } = this.options;
    let timely = reply;
    for (const { staleWatchesMs } of rules) if (staleWatchesMs) timely = late(timely, clock, staleWatchesMs);
    const watch = new DroppableWatch(timely, (over) => this.#watches.delete(over));
    this.#watches.set(watch, call);
    for (const { dropWatchesAfterMs } of rules) {
      if (dropWatchesAfterMs !== undefined) watch.dropAfter(clock, dropWatchesAfterMs);
    }
    return watch;
  }

  /** Applies a fault to running watches: they are dropped, even for delays, which apply when they are resumed. */
  #disturbRunning(fault: CountedFault): void {
    const { staleWatchesMs, dropWatchesAfterMs = staleWatchesMs === undefined ? undefined : 0 } = fault.rule;
    if (dropWatchesAfterMs === undefined) return;
    for (const [watch, call] of this.#watches) {
      if (!this.#faults.has(fault)) return;
      if (this.#hits(fault, call)) watch.dropAfter(this.options.clock, dropWatchesAfterMs);
    }
  }

  #hitBy(call: Call): FaultRule[] {
    const rules: FaultRule[] = [];
    for (const fault of this.#faults) if (this.#hits(fault, call)) rules.push(fault.rule);
    return rules;
  }

  #hits(fault: CountedFault, call: Call): boolean {
    if (!this.#happens(fault.rule, call)) return false;
    fault.hits++;
    if (fault.hits === fault.rule.times) this.#faults.delete(fault);
    return true;
  }

  #happens(rule: FaultRule, { verb, plural, namespace = '', user }: Call): boolean {
    const { verbs, resources, namespaces, users, rate = 1 } = rule;
    const { random, isExempt, spared } = this.options;
    const isMeant =
      plural !== spared &&
      (!verbs || verbs.includes(verb)) &&
      (!resources || resources.includes(plural)) &&
      (!namespaces || namespaces.includes(namespace)) &&
      (users ? users.includes(user.name) : !isExempt?.(user));
    // A fault of watches alone affects nothing else.
    const isFelt = verb === 'watch' || rule.error !== undefined || rule.latencyMs !== undefined;
    return isMeant && isFelt && (rate >= 1 || random.int(RATE_STEPS) < rate * RATE_STEPS);
  }
}

function injected(code: FaultCode): ApiError {
  const reason = REASONS[code];
  const details = code === 429 ? { details: { retryAfterSeconds: 1 } } : {};
  return new ApiError(reason, `an injected fault: ${code} ${reason}`, details);
}
