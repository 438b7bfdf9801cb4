/** Reading fields and elements of values. */
import { fail, noSuchOverload } from '../values/failure.ts';
import { isMap, MapValue, mapGet } from '../values/map.ts';
import { isInt, numericValue } from '../values/numbers.ts';
import { typeNameOf } from '../values/type-of.ts';
import { Double, ObjectValue, Optional, Uint, type Value } from '../values/value.ts';

/** Returns the field of an object or the value of a map's key; undefined when there is none. */
export function fieldOrNone(value: Value, field: string, property: string): Value | undefined {
  if (typeof value !== 'object' || value === null) return noSuchField(value);
  const prototype = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) {
    return Object.hasOwn(value, property) ? (value as { [key: string]: Value })[property] : undefined;
  }
  if (value instanceof MapValue) return value.get(field);
  if (value instanceof ObjectValue) {
    return Object.hasOwn(value.fields, property) ? value.fields[property] : undefined;
  }
  if (value instanceof Optional) return optionalField(value, field, property);
  return noSuchField(value);
}

function noSuchField(value: Value): never {
  return fail(value === null ? 'no such overload' : `no such overload: field selection of ${typeNameOf(value)}`);
}

/** Returns a field of the value in an optional value, as an optional value. */
export function optionalField(value: Value, field: string, property: string): Optional {
  const inner = value instanceof Optional ? value.value : value;
  if (inner === undefined) return Optional.NONE;
  const found = fieldOrNone(inner, field, property);
  return found === undefined ? Optional.NONE : new Optional(found);
}

/** `container[key]`. */
export function element(container: Value, key: Value): Value {
  if (container instanceof Optional) return optionalElement(container, key);
  const found = elementOrNone(container, key);
  if (found !== undefined) return found;
  if (Array.isArray(container)) return fail(`index out of bounds: ${numericValue(key)}`);
  return fail(`no such key: ${keyText(key)}`);
}

/** `container[?key]`. */
export function optionalElement(container: Value, key: Value): Optional {
  const inner = container instanceof Optional ? container.value : container;
  if (inner === undefined) return Optional.NONE;
  const found = elementOrNone(inner, key);
  return found === undefined ? Optional.NONE : new Optional(found);
}

function elementOrNone(container: Value, key: Value): Value | undefined {
  if (Array.isArray(container)) return container[listIndex(key)];
  return isMap(container) ? mapGet(container, key) : noSuchOverload();
}

function listIndex(key: Value): number {
  if (!isInt(key) && !(key instanceof Uint) && !(key instanceof Double)) {
    const text = typeof key === 'number' ? 'double' : typeNameOf(key);
    return fail(`unsupported index type '${text}' in list`);
  }
  return Number(numericValue(key));
}

function keyText(key: Value): string {
  return typeof key === 'object' ? String(numericValue(key) ?? typeNameOf(key)) : String(key);
}
