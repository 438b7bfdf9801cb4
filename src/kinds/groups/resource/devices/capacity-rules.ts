/** Rules for a capacity of a device and for the amounts that requests can consume. Paths are from the capacity. */
import { addAll } from '../../../../base/collections/add-all.ts';
import { addQuantities, compareQuantities, formatQuantity, parseQuantity } from '../../../../base/quantity.ts';
import { type FieldError, forbidden, invalid, required, under } from '../../../../schema/field-error.ts';
import { eachDistinct } from '../list-rules.ts';
import type { CapacityRequestPolicy, DeviceCapacity } from './device.ts';

const MAX_VALID_VALUES = 10;

export function capacityRules({ value, requestPolicy }: DeviceCapacity, shared: boolean): FieldError[] {
  if (!requestPolicy) return [];
  if (!shared) return [forbidden('requestPolicy', 'allowMultipleAllocations must be true')];
  const { default: preset, validValues, validRange } = requestPolicy;
  if (validValues && validRange) {
    const detail =
      'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time';
    return [forbidden('requestPolicy', detail)];
  }
  const way = validValues ? 'validValues' : validRange ? 'validRange' : undefined;
  if (!way) return [];
  if (!preset) return [required('requestPolicy.default', `required when ${way} is defined`)];
  return under(
    `requestPolicy.${way}`,
    validRange ? rangeRules(validRange, preset, value) : valueRules(validValues ?? [], preset, value),
  );
}

function valueRules(values: readonly string[], preset: string, capacity: string): FieldError[] {
  const found = values.flatMap((each, index) =>
    index > 0 && compare(values[index - 1]!, each) > 0
      ? [invalid(`[${index}]`, each, 'values must be sorted in ascending order')]
      : [],
  );
  addAll(
    found,
    eachDistinct('', values, {
      limit: MAX_VALID_VALUES,
      key: (each) => String(roundUp(each)),
      check: (each) =>
        compare(each, capacity) > 0 ? [invalid('', each, `option is larger than capacity value: ${capacity}`)] : [],
    }),
  );
  if (!values.slice(0, MAX_VALID_VALUES).some((each) => compare(each, preset) === 0)) {
    found.push(invalid('', preset, 'default value is not valid according to the requestPolicy'));
  }
  return found;
}

type Range = NonNullable<CapacityRequestPolicy['validRange']>;

function rangeRules({ min, max, step }: Range, preset: string, capacity: string): FieldError[] {
  // A missing value is reported elsewhere.
  if (!min) return [];
  const found: FieldError[] = [];
  if (compare(min, capacity) > 0) found.push(invalid('min', min, `min is larger than capacity value: ${capacity}`));
  if (compare(preset, min) < 0) found.push(invalid('min', preset, `default is less than min: ${min}`));
  if (max) {
    if (compare(min, max) > 0) found.push(invalid('max', min, `min is larger than max: ${max}`));
    if (compare(max, capacity) > 0) found.push(invalid('max', max, `max is larger than capacity value: ${capacity}`));
    if (compare(preset, max) > 0) found.push(invalid('max', preset, `default is more than max: ${max}`));
  }
  if (step) {
    const first = formatQuantity(addQuantities(parseQuantity(min), parseQuantity(step)));
    if (compare(first, capacity) > 0) {
      found.push(invalid('step', step, `one step ${first} is larger than capacity value: ${capacity}`));
    }
    for (const amount of [preset, ...(max ? [max] : [])]) {
      if (isWholeStep(amount, min, step)) continue;
      found.push(invalid('step', amount, `value is not a multiple of a given step (${step}) from (${min})`));
    }
  }
  return found;
}

function isWholeStep(amount: string, min: string, step: string): boolean {
  const width = roundUp(step);
  return width !== 0n && (roundUp(amount) - roundUp(min)) % width === 0n;
}

function compare(a: string, b: string): number {
  return compareQuantities(parseQuantity(a), parseQuantity(b));
}

/** Rounds to the next integer, away from zero. */
function roundUp(text: string): bigint {
  const { mantissa, exponent } = parseQuantity(text);
  if (exponent >= 0) return mantissa * 10n ** BigInt(exponent);
  const divisor = 10n ** BigInt(-exponent);
  const rounding = mantissa % divisor === 0n ? 0n : mantissa < 0n ? -1n : 1n;
  return mantissa / divisor + rounding;
}
