/** Sends the rules to a proxy in another process: part by part, and after the first time only changes. */
import { TurnBudget } from '../../base/event-loop/turn-budget.ts';
import type { Clock } from '../../base/time/clock.ts';
import { type ConfigChange, changesBetween } from './changes.ts';
import { EMPTY_CONFIG, type IngressConfig } from './config.ts';

/** The rules count from the last part on. */
export type SendPart = (part: readonly ConfigChange[], isLast: boolean) => Promise<unknown>;

export class ConfigSender {
  readonly #turns: TurnBudget;
  #sent = EMPTY_CONFIG;
  #wanted = EMPTY_CONFIG;
  #sending: Promise<void> | undefined;

  constructor(
    clock: Clock,
    private readonly send: SendPart,
  ) {
    this.#turns = new TurnBudget(clock);
  }

  get wanted(): IngressConfig {
    return this.#wanted;
  }

  /** Resolves when requests follow the rules. */
  use(config: IngressConfig): Promise<void> {
    this.#wanted = config;
    if (!this.#sending && this.#sent === config) return Promise.resolve();
    this.#sending ??= this.#sendChanges();
    return this.#sending;
  }

  async #sendChanges(): Promise<void> {
    try {
      while (this.#sent !== this.#wanted) {
        const next = this.#wanted;
        await this.#sendAll(changesBetween(this.#sent, next, this.#turns));
        this.#sent = next;
      }
    } finally {
      this.#sending = undefined;
    }
  }

  /** The other side answers requests between two parts, and so does this one. */
  async #sendAll(changes: ReturnType<typeof changesBetween>): Promise<void> {
    for (let isLast = false; !isLast; ) {
      const { value: part, done = false } = changes.next();
      isLast = done;
      if (isLast || part.length > 0) await this.send(part, isLast);
      if (!isLast && this.#turns.isSpent()) await this.#turns.nextTurn();
    }
  }
}
