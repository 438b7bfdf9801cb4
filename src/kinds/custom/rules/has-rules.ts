import { memoized } from '../../../base/collections/memoized.ts';
import { isTree } from '../../../base/json/tree.ts';
import type { JsonSchema } from '../../../json-schema/json-schema.ts';

/** Reports whether a schema has rules anywhere. */
export const hasRules = memoized((schema: JsonSchema): boolean => {
  const { properties = {}, items, additionalProperties } = schema;
  return (
    (schema['x-kubernetes-validations']?.length ?? 0) > 0 ||
    [...Object.values(properties), items, additionalProperties].some(
      (each) => isTree(each) && hasRules(each as JsonSchema),
    )
  );
});
