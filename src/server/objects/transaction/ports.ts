import type { TurnBudget } from '../../../base/event-loop/turn-budget.ts';
import type { AdmissionControl } from '../admission/request.ts';
import type { Allocation } from '../allocation/allocation.ts';
import type { SpecInterner } from '../body/spec-interner.ts';
import type { Reader, Tools } from '../ports.ts';
import type { Commits } from './commit.ts';

export interface Writer {
  /** Writes drafts to the store; for transactions only. */
  readonly commits: Commits;
  readonly allocation: Allocation;
  readonly admission: AdmissionControl;
  /** Specs that recently created objects share. */
  readonly specs: SpecInterner;
  /** Divides writes into turns of the event loop between their stages, each of which may take long. */
  readonly stages: Pick<TurnBudget, 'pause'>;
  /** True when a garbage collector handles the finalizers `orphan` and `foregroundDeletion`: else they are not set. */
  readonly garbageCollection: boolean;
}

export type TransactionPorts = Reader & Writer & Tools;
