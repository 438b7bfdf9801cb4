/** The types that expressions of mutations make values of. */
import type { Library } from '../../../../../cel/library.ts';
import { DYN, type Field, objectType, STRING, type Type } from '../../../../../cel/types/type.ts';

const OBJECT = 'Object';

const dynamic: Field = { type: DYN };
const ANY_FIELD = () => dynamic;

/** Fields of an object to set, of any name and type: the schema of the object is checked when they are merged. */
export const ObjectType = objectType(OBJECT, ANY_FIELD);

const operation = new Map<string, Field>([
  ['op', { type: STRING }],
  ['path', { type: STRING }],
  ['from', { type: STRING }],
  ['value', dynamic],
]);

/** CEL type of an operation in a JSON patch. */
export const JsonPatchType = objectType('JSONPatch', (name) => operation.get(name));

/** Finds `Object`, the types of its fields such as `Object.spec`, and `JSONPatch`. */
export function patchTypeNamed(name: string): Type | undefined {
  if (name === JsonPatchType.name) return JsonPatchType;
  if (name === OBJECT) return ObjectType;
  return name.startsWith(`${OBJECT}.`) ? objectType(name, ANY_FIELD) : undefined;
}

/** `jsonpatch.escapeKey(key)` makes a key of a map a part of a path. */
export const jsonPatchLibrary: Library = {
  name: 'kubernetes.jsonpatch',
  functions: [
    {
      name: 'jsonpatch.escapeKey',
      overloads: [
        {
          id: 'string_jsonpatch_escapeKey_string',
          parameters: [STRING],
          result: STRING,
          call: (key: string) => key.replaceAll('~', '~0').replaceAll('/', '~1'),
        },
      ],
    },
  ],
};
