import type { Library } from '../library.ts';
import { LIST_LIBRARY } from './lists.ts';
import { OPTIONAL_LIBRARY } from './optionals.ts';
import { SET_LIBRARY } from './sets.ts';
import { STANDARD_LIBRARY } from './standard.ts';
import { STRING_LIBRARY } from './strings.ts';
import { TWO_VARIABLE_LIBRARY } from './two-variable.ts';

/** The language and those of its extensions that Kubernetes 1.36 enables everywhere, without functions of Kubernetes. */
export const KUBERNETES_LANGUAGE: readonly Library[] = [
  STANDARD_LIBRARY,
  OPTIONAL_LIBRARY,
  STRING_LIBRARY,
  SET_LIBRARY,
  TWO_VARIABLE_LIBRARY,
  LIST_LIBRARY,
];
