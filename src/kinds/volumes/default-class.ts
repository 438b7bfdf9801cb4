import { markedDefault } from '../marked-default.ts';

/** The annotation that makes a storage class the default one; the second entry below is its older name. */
export const DEFAULT_MARK = 'storageclass.kubernetes.io/is-default-class';
const MARKS = [DEFAULT_MARK, 'storageclass.beta.kubernetes.io/is-default-class'];

/** The name of the class for claims that request none. */
export function defaultClass(classes: Parameters<typeof markedDefault>[0]): string | undefined {
  return markedDefault(classes, MARKS);
}
