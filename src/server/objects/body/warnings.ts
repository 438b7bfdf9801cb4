import type { RequestNotes } from '../../../api/call.ts';
import type { Kind, KubeObject } from '../../../kinds/kind.ts';
import type { DeletePlan } from './delete-options.ts';

interface Writing {
  readonly notes: RequestNotes;
  readonly old: KubeObject | undefined;
  /** A part of the object that caused no warnings in another one. */
  readonly quiet?: object | undefined;
  /** True when only the status is written. */
  readonly status?: boolean;
}

/** Adds the kind's warnings about an object that is about to be stored. Returns whether there were none. */
export function noteWarnings(kind: Kind, object: KubeObject, { notes, old, quiet, status = false }: Writing): boolean {
  const found = status ? kind.statusWarnings?.(object) : kind.warnings?.(object, old, quiet);
  if (!found || found.length === 0) return true;
  for (const text of found) notes.warn(text);
  return false;
}

/** Warns about a delete without a propagation policy, if the kind requires one. */
export function noteDeleteWarning({ deleteWarning }: Kind, plan: DeletePlan, notes: RequestNotes): void {
  if (deleteWarning && !plan.propagation) notes.warn(deleteWarning);
}
