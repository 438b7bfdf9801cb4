/** An integer that is kept in an annotation in its canonical decimal form. */
import type { ObjectMeta } from '../shapes/meta/object-meta.ts';

interface Named {
  metadata: ObjectMeta;
}

/** The integer that a text stands for; undefined for anything but the canonical form of an integer. */
export function wholeNumber(text: string | undefined): number | undefined {
  const value = Number(text);
  return Number.isSafeInteger(value) && String(value) === text ? value : undefined;
}

/** Returns the same object with the annotation set, or without it. */
export function withNumberAnnotation<T extends Named>(object: T, key: string, value: number | undefined): T {
  return { ...object, metadata: annotated(object.metadata, key, value === undefined ? undefined : String(value)) };
}

/** Restores the annotation from the old object, for a write that must not change it. */
export function keepAnnotation(object: Named, old: Named, key: string): void {
  object.metadata = annotated(object.metadata, key, old.metadata.annotations?.[key]);
}

/** Metadata without annotations has no empty map of them. */
function annotated({ annotations, ...metadata }: ObjectMeta, key: string, value: string | undefined): ObjectMeta {
  const { [key]: _, ...others } = annotations ?? {};
  const next = value === undefined ? others : { ...others, [key]: value };
  return Object.keys(next).length ? { ...metadata, annotations: next } : metadata;
}
