import { type Definition, type Definitions, objectIn, ownFields } from '../definitions.ts';
import { SCALARS } from '../names.ts';
import type { Endpoint } from '../operations.ts';

/** Returns the names of the definitions that the operations use, directly or through other definitions. */
export function definitionsUsed(endpoints: readonly Endpoint[], definitions: Definitions): Set<string> {
  const names = new Set<string>(Object.values(SCALARS));
  const visit = (definition: Definition | undefined) => {
    if (!definition || names.has(definition.name)) return;
    names.add(definition.name);
    for (const field of ownFields(definition.shape)) {
      const inner = objectIn(field);
      if (inner) visit(definitions.all.get(definitions.nameOf(inner, definition.home)));
    }
  };
  for (const { body, answer } of endpoints.flatMap(({ operations }) => operations)) {
    for (const name of [body?.definition, answer]) if (name) visit(definitions.all.get(name));
  }
  return names;
}
