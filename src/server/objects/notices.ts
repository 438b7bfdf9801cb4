import type { Kind, KubeObject } from '../../kinds/kind.ts';
import type { Call } from '../api.ts';
import type { DeletePlan } from './delete-options.ts';

/** Notes what a kind has to say about an object that is about to be stored. Says whether that is nothing. */
export function noteWarnings(kind: Kind, object: KubeObject, { call, old, quiet, status = false }: Writing): boolean {
  const found = status ? kind.statusWarnings?.(object) : kind.warnings?.(object, old, quiet);
  if (!found || found.length === 0) return true;
  call.notices ??= [];
  call.notices.push(...found);
  return false;
}

/** The same for a delete. */
export function noteDeletion({ deleteWarning }: Kind, plan: DeletePlan, call: Call): void {
  if (deleteWarning && !plan.propagation) call.notices = [deleteWarning];
}

interface Writing {
  readonly call: Call;
  readonly old: KubeObject | undefined;
  /** A part of it about which there was nothing to say before. */
  readonly quiet?: object | undefined;
  /** Whether only the status is written. */
  readonly status?: boolean;
}
