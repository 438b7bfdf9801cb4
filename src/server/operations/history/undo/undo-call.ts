import type { Call } from '../../../../api/call.ts';
import type { SetRange } from './change-set.ts';

/** A valid request to undo a set. */
export interface UndoCall extends Pick<Call, 'user' | 'userAgent' | 'requestId' | 'signal'> {
  readonly range: SetRange;
  readonly dryRun: boolean;
  readonly force: boolean;
}
