/** Requirement of a label selector, and its validation. */
import { type FieldError, invalid } from '../field-error.ts';
import { labelValue, qualifiedName } from '../names.ts';

export class SelectorError extends Error {
  override readonly name = 'SelectorError';
}

export type Operator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | '>' | '<';

export interface Requirement {
  readonly key: string;
  readonly operator: Operator;
  readonly values: readonly string[];
}

/** Further errors are left out of the message. */
const MAX_ERRORS = 100;

/** Throws a SelectorError with the errors of the key and the values. */
export function requirementOf(key: string, operator: Operator, values: readonly string[]): Requirement {
  const found = [...keyErrors(key, 'key'), ...countErrors(operator, values)];
  for (let index = 0; index < values.length && found.length < MAX_ERRORS; index++) {
    const value = values[index]!;
    const complaints = labelValue(value);
    if (complaints.length) found.push(invalid(`values[${index}][${key}]`, value, complaints.join('; ')));
  }
  if (found.length) throw new SelectorError(oneText(found));
  return { key, operator, values };
}

export function keyErrors(key: string, field: string): FieldError[] {
  const complaints = qualifiedName(key);
  return complaints.length ? [invalid(field, key, complaints.join('; '))] : [];
}

function countErrors(operator: Operator, values: readonly string[]): FieldError[] {
  switch (operator) {
    case 'in':
    case 'notin':
      return values.length ? [] : [invalid('values', values, "for 'in', 'notin' operators, values set can't be empty")];
    case 'exists':
    case '!':
      return values.length ? [invalid('values', values, 'values set must be empty for exists and does not exist')] : [];
    case '>':
    case '<':
      return values.flatMap((value, index) =>
        isInt64(value)
          ? []
          : [invalid(`values[${index}]`, value, "for 'Gt', 'Lt' operators, the value must be an integer")],
      );
    case '=':
    case '==':
    case '!=':
      return [];
  }
}

function isInt64(text: string): boolean {
  return /^[+-]?\d{1,20}$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text);
}

export function oneText(errors: readonly FieldError[]): string {
  const texts = errors.map(({ field, message }) => `${field}: ${message}`);
  return texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`;
}
