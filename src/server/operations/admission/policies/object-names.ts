import { isMap, mapGet, mapKeys } from '../../../../cel/values/map.ts';
import { ObjectValue, type Value } from '../../../../cel/values/value.ts';

/**
 * Finds objects whose type name does not match their field: the type of `spec` in an `Object` is `Object.spec`. Fields
 * have no declared types, so the compiler cannot find this.
 */
export function wrongTypeNames(value: Value, expected: string): string[] {
  if (value instanceof ObjectValue) {
    const { name } = value.type;
    const wrong = `unexpected type name ${JSON.stringify(name)}, expected ${JSON.stringify(expected)}, which matches field name path from root Object type`;
    const inside = Object.keys(value.fields).flatMap((field) =>
      wrongTypeNames(value.fields[field]!, `${expected}.${field}`),
    );
    return name === expected ? inside : [wrong, ...inside];
  }
  if (Array.isArray(value)) return value.flatMap((item) => wrongTypeNames(item, expected));
  if (isMap(value)) return mapKeys(value).flatMap((key) => wrongTypeNames(mapGet(value, key)!, expected));
  return [];
}
