import { markedDefault } from '../marked-default.ts';

/** The annotation that makes a storage class the default one, and what it was called before. */
export const DEFAULT_MARK = 'storageclass.kubernetes.io/is-default-class';
const MARKS = [DEFAULT_MARK, 'storageclass.beta.kubernetes.io/is-default-class'];

/** The name of the class that claims get that ask for none. */
export function defaultClass(classes: Parameters<typeof markedDefault>[0]): string | undefined {
  return markedDefault(classes, MARKS);
}
