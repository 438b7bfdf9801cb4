/** The number of values that the operators `In`, `NotIn`, `Exists` and `DoesNotExist` of selectors take. */
import { type FieldError, forbidden, invalid, required } from '../../../schema/field-error.ts';

/** Checks the values of an operator; undefined for an unknown one. */
export function operatorValues(operator: string, values: readonly string[] = []): FieldError[] | undefined {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0 ? [] : [required('values', "must be specified when `operator` is 'In' or 'NotIn'")];
    case 'Exists':
    case 'DoesNotExist':
      if (values.length === 0) return [];
      return [forbidden('values', "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
    default:
      return undefined;
  }
}

export const unknownOperator = (operator: string): FieldError =>
  invalid('operator', operator, 'not a valid selector operator');
