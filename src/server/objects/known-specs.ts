/**
 * Specs that come again and again, by the very tree that a parser made of them: whoever hands out the same tree for the
 * same bytes spares the reading of it. Such a tree is frozen, and what it stands for is copied for every object.
 */
import { clone, deepFreeze } from '../../base/tree.ts';
import { decode } from '../../schema/decode.ts';
import type { ObjectSchema } from '../../schema/schema.ts';

const known = new WeakMap<object, object>();

/** Reads the spec in a body's members once for all. Says whether every field of it is known to the description. */
export function readOnce(schema: ObjectSchema, members: { readonly spec: object }): boolean {
  let isKnown = true;
  const unknown = () => {
    isKnown = false;
  };
  const { spec } = decode(schema, members, { unknown }) as { spec: object };
  if (isKnown) known.set(deepFreeze(members.spec), spec);
  return isKnown;
}

/** What a spec was read as; undefined: it has to be read. */
export function knownSpec({ spec }: { readonly spec?: unknown }): object | undefined {
  return typeof spec === 'object' && spec !== null ? known.get(spec) : undefined;
}

/** Reads the rest of a body whose spec is known. The object has a spec of its own. */
export function readRest(schema: ObjectSchema, body: object, spec: object, unknown?: (path: string) => void): object {
  const object = decode(schema, { ...body, spec }, { from: { spec }, ...(unknown && { unknown }) }) as { spec: object };
  object.spec = clone(spec);
  return object;
}
