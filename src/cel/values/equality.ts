/** Implements CEL's `==`: numbers are equal by their mathematical value, other values only within their type. */
import { MAX_COMPARED_STEPS } from '../cost/constants.ts';
import { sameType, Type } from '../types/type.ts';
import { fail } from './failure.ts';
import { isMap, type JsonObject, type MapValue, mapGet, mapKeys, mapSize } from './map.ts';
import { compareNumeric, numericValue } from './numbers.ts';
import { BoxedValue, Duration, ObjectValue, OpaqueValue, Optional, Timestamp, type Value } from './value.ts';

/** Counts the values that a comparison visits below its operands. */
export interface StepCounter {
  steps: number;
}

export function equal(a: Value, b: Value, counter: StepCounter = { steps: 0 }): boolean {
  if (a === b) return true;
  if (typeof a === 'string' || typeof a === 'boolean' || a === null || b === null) return false;
  if (typeof a === 'number' && typeof b === 'number') return false;
  const number = numericValue(a);
  if (number !== undefined) {
    const other = numericValue(b);
    return other !== undefined && compareNumeric(number, other) === 0;
  }
  if (Array.isArray(a)) return Array.isArray(b) && equalLists(a, b, counter);
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0;
  if (a instanceof Type) return b instanceof Type && sameRuntimeType(a, b);
  if (isMap(a)) return isMap(b) && equalMaps(a, b, counter);
  return a instanceof BoxedValue && b instanceof BoxedValue && equalBoxed(a, b, counter);
}

/** Compares types as at run time, where they have no parameters: the type of every list is `list`. */
function sameRuntimeType(a: Type, b: Type): boolean {
  return sameType(a, b) || (a.kind === b.kind && a.name === b.name);
}

/** Values that an expression made may hold the same value many times: no comparison goes on for ever. */
function count(counter: StepCounter, steps: number): void {
  counter.steps += steps;
  if (counter.steps > MAX_COMPARED_STEPS) fail('the values are too large to be compared');
}

function equalLists(a: readonly Value[], b: readonly Value[], counter: StepCounter): boolean {
  count(counter, a.length);
  return a.length === b.length && a.every((item, i) => equal(item, b[i]!, counter));
}

type AnyMap = MapValue | JsonObject;

function equalMaps(a: AnyMap, b: AnyMap, counter: StepCounter): boolean {
  count(counter, mapSize(a));
  if (mapSize(a) !== mapSize(b)) return false;
  return mapKeys(a).every((key) => {
    const other = mapGet(b, key);
    return other !== undefined && equal(mapGet(a, key)!, other, counter);
  });
}

function equalBoxed(a: BoxedValue, b: BoxedValue, counter: StepCounter): boolean {
  if (a instanceof Timestamp) return b instanceof Timestamp && a.nanoseconds === b.nanoseconds;
  if (a instanceof Duration) return b instanceof Duration && a.nanoseconds === b.nanoseconds;
  if (a instanceof Optional) return b instanceof Optional && equalOptionals(a, b, counter);
  if (a instanceof OpaqueValue) return a.constructor === b.constructor && a.equals(b as typeof a);
  if (a instanceof ObjectValue) {
    return b instanceof ObjectValue && a.type.name === b.type.name && equalMaps(a.fields, b.fields, counter);
  }
  return false;
}

function equalOptionals(a: Optional, b: Optional, counter: StepCounter): boolean {
  if (a.value === undefined || b.value === undefined) return a.value === b.value;
  return equal(a.value, b.value, counter);
}
