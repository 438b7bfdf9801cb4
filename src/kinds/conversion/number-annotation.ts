/** A whole number that lives in an annotation, in the one way it is written there. */

/** The number that a text stands for; undefined for anything but the plain form of a whole number. */
export function wholeNumber(text: string | undefined): number | undefined {
  const value = Number(text);
  return Number.isSafeInteger(value) && String(value) === text ? value : undefined;
}

/** The same object with the annotation set, or without it; an object whose last annotation goes has no map of them. */
export function withNumberAnnotation(object: any, key: string, value: number | undefined): any {
  const { annotations, ...metadata } = object.metadata;
  const { [key]: _, ...others } = annotations ?? {};
  const next = value === undefined ? others : { ...others, [key]: String(value) };
  return { ...object, metadata: Object.keys(next).length ? { ...metadata, annotations: next } : metadata };
}
