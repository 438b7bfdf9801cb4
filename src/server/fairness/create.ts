import { soon } from '../../base/soon.ts';
import { FlowSchema } from '../../kinds/groups/flowcontrol/flow-schema.ts';
import { PriorityLevelConfiguration } from '../../kinds/groups/flowcontrol/priority-level-configuration.ts';
import type { Core } from '../core.ts';
import type { Admitting } from './admitting.ts';
import { Fairness } from './fairness.ts';
import { InFlight } from './in-flight.ts';
import { keepDefaults } from './keep.ts';

export interface FairnessSettings {
  /** Whether requests are sorted by flow schemas; otherwise only those at the same time are counted. */
  readonly byFlow: boolean;
  /** Requests at the same time, and together the seats of all levels. */
  readonly reading: number;
  readonly mutating: number;
  /** Milliseconds that a request may take; a quarter of it, it may wait. */
  readonly requestTimeout: number;
}

/** Resolves when the default objects are in order, which they then stay. */
export async function createAdmitting(core: Core, settings: FairnessSettings): Promise<Admitting> {
  const { byFlow, reading, mutating, requestTimeout } = settings;
  if (!byFlow) return new InFlight({ reading, mutating });
  const { cache, clock } = core;
  await keepDefaults(core);
  keepInOrder(core);
  return new Fairness({
    ...{ cache, clock, seats: reading + mutating, longestWait: requestTimeout / 4 },
    nextTurn: (task) => void setImmediate(task),
  });
}

function keepInOrder(core: Core): void {
  const { cache, log } = core;
  const keep = soon(() => {
    keepDefaults(core).catch((error: unknown) => {
      log.warn('the default flow schemas and priority levels could not be put in order', { error });
    });
  });
  for (const kind of [FlowSchema, PriorityLevelConfiguration]) cache.table(kind).listeners.add(keep);
}
