/** Decides what would undo the last change of an object, or bring an earlier state back. Performs nothing. */

import { withContent } from '../../../api/undo/content.ts';
import { textOfMark, UNDO_ANNOTATION } from '../../../api/undo/undo-mark.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import type { KubeObject } from '../../../kinds/kind.ts';
import { type ObjectPast, Past, type State } from './past.ts';

export type UndoPlan =
  /** The object is written as it was; `body` has the version that it must still have. */
  | { readonly type: 'update'; readonly body: KubeObject; readonly before: State; readonly now: State }
  /** The object was deleted, and is created again. */
  | { readonly type: 'create'; readonly body: object; readonly before: State }
  /** Its deletion is under way, which nothing stops. */
  | { readonly type: 'terminating'; readonly now: KubeObject }
  | { readonly type: 'nothing'; readonly why: string };

/**
 * Changes of the status are no changes here: controllers would make them again. Without `version`, plans to go back to what
 * was before the last change; otherwise to the state at that version, be it earlier or, to redo what was undone, later.
 */
export function planUndo(past: ObjectPast, version?: string): UndoPlan {
  const { now } = past;
  if (now?.metadata.deletionTimestamp !== undefined) return { type: 'terminating', now };
  const states = new Past(past);
  const { last } = states;
  if (!last || (!now && !last.isDeleted)) {
    return { type: 'nothing', why: 'it does not exist, and its deletion is not in the history' };
  }
  const goal = version === undefined ? stateBefore(last) : (states.at(version) ?? notThen(version));
  if (typeof goal === 'string') return { type: 'nothing', why: goal };
  const mark = { from: last.resourceVersion, to: goal.object.metadata.resourceVersion ?? '' };
  const annotations = { [UNDO_ANNOTATION]: textOfMark(mark) };
  if (!now) return { type: 'create', body: createdAgain(goal, annotations), before: goal };
  if (deepEqual(goal.content, last.state.content)) return { type: 'nothing', why: `it is as it was at ${version}` };
  return { type: 'update', body: withContent(now, goal.content, annotations), before: goal, now: last.state };
}

/** Returns the state before the last change, or why nothing is known of it. */
function stateBefore({ state, isDeleted }: { readonly state: State; readonly isDeleted: boolean }): State | string {
  if (isDeleted) return state;
  if (state.before === 'created') return 'nothing has changed since it was created; to undo the creation, delete it';
  if (state.before === 'unknown') return 'the history has no earlier state of it';
  return state.before;
}

const notThen = (version: string) => `it did not exist at version ${version}, or the history does not reach that far`;

function createdAgain({ content }: State, annotations: Readonly<Record<string, string>>): object {
  const { metadata, ...rest } = content as { metadata: KubeObject['metadata'] };
  return { ...rest, metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } } };
}
