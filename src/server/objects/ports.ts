/** The ports of code that works on stored objects: a way to read them, and the tools of every component. */
import type { TurnBudget } from '../../base/event-loop/turn-budget.ts';
import type { Cache } from './cache/cache.ts';
import type { Registry } from './registry/registry.ts';

export type { Tools } from '../../base/tools.ts';

export interface Reader {
  readonly cache: Cache;
  readonly registry: Registry;
  /** Divides the reading of long lists into turns of the event loop. */
  readonly turns: TurnBudget;
}
