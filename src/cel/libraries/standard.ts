import type { Library } from '../library.ts';
import { STANDARD_MACROS } from './macros.ts';
import { OPERATORS } from './operators.ts';

/** The language itself: operators, conversions, and functions of strings, timestamps and durations. */
export const STANDARD_LIBRARY: Library = {
  name: 'standard',
  functions: [...OPERATORS],
  macros: STANDARD_MACROS,
};
