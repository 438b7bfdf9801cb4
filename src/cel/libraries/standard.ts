import type { Library } from '../library.ts';
import { CONVERSIONS } from './conversions.ts';
import { STANDARD_MACROS } from './macros.ts';
import { OPERATORS } from './operators.ts';
import { TEXT_FUNCTIONS } from './texts.ts';
import { TIME_FUNCTIONS } from './time.ts';

/** The language itself: operators, conversions, and functions of strings, timestamps and durations. */
export const STANDARD_LIBRARY: Library = {
  name: 'standard',
  functions: [...OPERATORS, ...CONVERSIONS, ...TEXT_FUNCTIONS, ...TIME_FUNCTIONS],
  macros: STANDARD_MACROS,
};
