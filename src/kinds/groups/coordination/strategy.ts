import { type FieldError, invalid, notSupported } from '../../../schema/field-error.ts';
import { qualifiedName } from '../../../schema/names.ts';

const STRATEGIES = ['OldestEmulationVersion'];

/** Checks the strategy of an election: a built-in one, or a custom one with a domain prefix. */
export function leaseStrategy(word: string): FieldError[] {
  if (word.includes('/')) return qualifiedName(word).map((complaint) => invalid('', word, complaint));
  return STRATEGIES.includes(word) ? [] : [notSupported('', word, STRATEGIES)];
}
