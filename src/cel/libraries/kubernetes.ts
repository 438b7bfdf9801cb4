import type { Library } from '../library.ts';
import { CONVERSIONS } from './conversions.ts';
import { LIST_LIBRARY } from './lists.ts';
import { STANDARD_MACROS } from './macros.ts';
import { OPERATORS } from './operators.ts';
import { OPTIONAL_LIBRARY } from './optionals.ts';
import { SET_LIBRARY } from './sets.ts';
import { STRING_LIBRARY } from './strings.ts';
import { TEXT_FUNCTIONS } from './texts.ts';
import { TIME_FUNCTIONS } from './time.ts';
import { TWO_VARIABLE_LIBRARY } from './two-variable.ts';

/** The language itself: operators, conversions, and functions of strings, timestamps and durations. */
const STANDARD_LIBRARY: Library = {
  name: 'standard',
  functions: [...OPERATORS, ...CONVERSIONS, ...TEXT_FUNCTIONS, ...TIME_FUNCTIONS],
  macros: STANDARD_MACROS,
};

/** The language and those of its extensions that Kubernetes 1.36 enables everywhere, without functions of Kubernetes. */
export const KUBERNETES_LANGUAGE: readonly Library[] = [
  STANDARD_LIBRARY,
  OPTIONAL_LIBRARY,
  STRING_LIBRARY,
  SET_LIBRARY,
  TWO_VARIABLE_LIBRARY,
  LIST_LIBRARY,
];
