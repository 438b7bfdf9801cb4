import { FlowSchema } from '../../../kinds/groups/flowcontrol/flow-schema.ts';
import { PriorityLevelConfiguration } from '../../../kinds/groups/flowcontrol/priority-level-configuration.ts';
import type { FlowControl } from '../../access/fairness/flow-control.ts';
import { MaxInFlight } from '../../access/fairness/max-in-flight.ts';
import { PriorityAndFairness } from '../../access/fairness/priority-and-fairness.ts';
import type { TransactionPorts } from '../../objects/transaction/ports.ts';
import { Upkeep } from '../upkeep.ts';
import { ensureDefaultObjects } from './default-objects.ts';

export interface FlowControlSettings {
  /** True for API Priority and Fairness; otherwise only the number of concurrent requests is limited. */
  readonly priorityAndFairness: boolean;
  /** Limits for concurrent requests. Their sum is the number of seats of all priority levels together. */
  readonly maxReading: number;
  readonly maxMutating: number;
  /** Timeout of a request, a quarter of which it may wait for a seat. */
  readonly requestTimeoutMs: number;
}

/** Resolves when the default FlowSchemas and PriorityLevelConfigurations are up to date. */
export async function createFlowControl(core: TransactionPorts, settings: FlowControlSettings): Promise<FlowControl> {
  const { priorityAndFairness, maxReading, maxMutating, requestTimeoutMs } = settings;
  if (!priorityAndFairness) return new MaxInFlight({ maxReading, maxMutating });
  const { cache, clock } = core;
  await ensureDefaultObjects(core);
  return new PriorityAndFairness({
    cache,
    clock,
    seats: maxReading + maxMutating,
    maxWaitMs: requestTimeoutMs / 4,
    nextTurn: (task) => void setImmediate(task),
  });
}

/** Keeps the default objects up to date. */
export function keepFlowControl(core: TransactionPorts): Upkeep {
  const upkeep = new Upkeep(core, {
    failure: 'the default flow schemas and priority levels could not be updated',
    reconcile: () => ensureDefaultObjects(core),
  });
  const wake = () => upkeep.loop.add('default objects');
  upkeep.follow([FlowSchema, PriorityLevelConfiguration], wake);
  // They may have changed before they were followed.
  wake();
  return upkeep;
}
