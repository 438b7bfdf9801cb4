/** The annotation by which a write of `qd undo` is told from a change that somebody made. */
import type { KubeObject } from '../../kinds/kind.ts';

export const UNDO_ANNOTATION = 'quarterdeck.io/undo';

/** Versions of the object. */
export interface UndoMark {
  /** The version that the undo replaced; later changes of the object keep the annotation, but not what comes before them. */
  readonly from: string;
  /** The version whose content it wrote. */
  readonly to: string;
}

export function undoMarkOf({ metadata }: KubeObject): UndoMark | undefined {
  const [, from, to] = /^from (\d+) to (\d+)$/.exec(metadata.annotations?.[UNDO_ANNOTATION] ?? '') ?? [];
  return from === undefined || to === undefined ? undefined : { from, to };
}

export const textOfMark = ({ from, to }: UndoMark): string => `from ${from} to ${to}`;

export function withoutMark(object: KubeObject): KubeObject {
  const { [UNDO_ANNOTATION]: mark, ...annotations } = object.metadata.annotations ?? {};
  if (mark === undefined) return object;
  const { annotations: _, ...metadata } = object.metadata;
  return { ...object, metadata: Object.keys(annotations).length > 0 ? { ...metadata, annotations } : metadata };
}
