import type { RequestNotes } from '../../../api/request-notes.ts';
import type { Kind, KubeObject } from '../../../kinds/kind.ts';
import type { DeletePlan } from './delete-options.ts';

interface Writing {
  readonly notes: RequestNotes;
  readonly old: KubeObject | undefined;
  /** A part of the object that gave no warnings in another one. */
  readonly quiet?: object | undefined;
  /** Whether only the status is written. */
  readonly status?: boolean;
}

/** Warns of what the kind finds odd about an object that is about to be stored. Returns whether there was nothing. */
export function noteWarnings(kind: Kind, object: KubeObject, { notes, old, quiet, status = false }: Writing): boolean {
  const found = status ? kind.statusWarnings?.(object) : kind.warnings?.(object, old, quiet);
  if (!found || found.length === 0) return true;
  for (const text of found) notes.warn(text);
  return false;
}

/** Warns of a delete that does not say what becomes of the dependents, where the kind wants that said. */
export function noteDeleteWarning({ deleteWarning }: Kind, plan: DeletePlan, notes: RequestNotes): void {
  if (deleteWarning && !plan.propagation) notes.warn(deleteWarning);
}
