/** A whole number that lives in an annotation, in the one way it is written there. */

/** The number that a text stands for; undefined for anything but the plain form of a whole number. */
export function wholeNumber(text: string | undefined): number | undefined {
  const value = Number(text);
  return Number.isSafeInteger(value) && String(value) === text ? value : undefined;
}

/** The same object with the annotation set, or without it. */
export function withNumberAnnotation(object: any, key: string, value: number | undefined): any {
  return { ...object, metadata: annotated(object.metadata, key, value === undefined ? undefined : String(value)) };
}

/** For a write that must not touch what the annotation stands for: it is as it was. */
export function keepAnnotation(object: any, old: any, key: string): void {
  object.metadata = annotated(object.metadata, key, old.metadata.annotations?.[key]);
}

/** Metadata whose last annotation goes has no map of them. */
function annotated({ annotations, ...metadata }: any, key: string, value: string | undefined): any {
  const { [key]: _, ...others } = annotations ?? {};
  const next = value === undefined ? others : { ...others, [key]: value };
  return Object.keys(next).length ? { ...metadata, annotations: next } : metadata;
}
