import { isTree } from '../../../base/json/tree.ts';
import type { JsonSchema } from '../../../json-schema/json-schema.ts';

const known = new WeakMap<JsonSchema, boolean>();

/** Reports whether a schema has rules anywhere. */
export function hasRules(schema: JsonSchema): boolean {
  let has = known.get(schema);
  if (has === undefined) {
    const { properties = {}, items, additionalProperties } = schema;
    has =
      (schema['x-kubernetes-validations']?.length ?? 0) > 0 ||
      [...Object.values(properties), items, additionalProperties].some(
        (each) => isTree(each) && hasRules(each as JsonSchema),
      );
    known.set(schema, has);
  }
  return has;
}
