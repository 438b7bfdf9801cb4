import { objectPart } from './object-part.ts';

/** The observed state of an object. No other path changes it. */
export const status = objectPart('status', 'status');
