/** Merges the fields that an expression sets into an object, as server-side apply does. */
import { isTree } from '../../../../base/json/tree.ts';
import { checkFields, errorText } from '../../../../schema/fields/check.ts';
import { type AnySchema, containerOf, schemaAt } from '../../../../schema/fields/container.ts';
import { elementText, fieldElement } from '../../../../schema/fields/element.ts';
import { mergeFields } from '../../../../schema/fields/merge.ts';
import type { ObjectSchema, Schema } from '../../../../schema/schema.ts';

/**
 * Merges a configuration into an object. Throws an Error that explains what is wrong with the configuration. Neither
 * argument is changed.
 */
export function applyConfiguration(schema: ObjectSchema, object: unknown, configuration: unknown): unknown {
  const wrong = checkFields(schema, configuration);
  if (wrong.length > 0) {
    throw new Error(`error applying patch: failed to convert patch object to typed object: ${errorText(wrong)}`);
  }
  const atomics = atomicsIn(schema, configuration, '');
  if (atomics.length > 0) {
    const paths = atomics.join(', ');
    throw new Error(
      `error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${paths}`,
    );
  }
  return mergeFields(schema, object, configuration);
}

/** Returns the paths of lists, maps and structs that would be replaced as a whole, which would lose omitted fields. */
function atomicsIn(schema: AnySchema, value: unknown, path: string): string[] {
  if (!isTree(value) && !Array.isArray(value)) return [];
  const container = containerOf(schema, value);
  if (Array.isArray(value)) {
    if (container.type !== 'list') return isList(schema) ? [path] : [];
    return value.flatMap((item, index) => atomicsIn(container.schema.items, item, `${path}[${index}]`));
  }
  if (container.type !== 'map') return isStruct(schema) ? [path] : [];
  return Object.keys(value).flatMap((key) => {
    const child = schemaAt(container, key);
    return child ? atomicsIn(child, value[key], path + elementText(fieldElement(key))) : [];
  });
}

const resolved = (schema: AnySchema): Schema | undefined =>
  typeof schema === 'symbol' ? undefined : schema.type === 'lazy' ? schema.resolve() : schema;

const isList = (schema: AnySchema) => resolved(schema)?.type === 'list';

function isStruct(schema: AnySchema): boolean {
  const shape = resolved(schema);
  return shape?.type === 'object' || shape?.type === 'map';
}
