/**
 * Specs that come again and again, by the very tree that a parser made of them: whoever hands out the same tree for the
 * same bytes spares the reading of it. What such a tree stands for is made anew for every object as far as objects change
 * it: the spec, its lists and the items of these. What lies deeper is shared by all, and frozen.
 */
import { deepFreeze, isTree, type Tree, withPartsOf } from '../../base/tree.ts';
import { Code, field } from '../../schema/code.ts';
import { decode } from '../../schema/decode.ts';
import type { ObjectSchema } from '../../schema/schema.ts';

/** What makes the spec of an object out of a tree. */
type Maker = () => object;

const makers = new WeakMap<object, Maker>();

/**
 * Reads the spec in a body's members once for all. Says whether every field of it is known to the description. `like` is a
 * spec that such objects end up with: what they have in common becomes the same, so that nobody has to compare it again.
 */
export function readOnce(schema: ObjectSchema, members: { readonly spec: object }, like: object): boolean {
  let isKnown = true;
  const unknown = () => {
    isKnown = false;
  };
  const { spec } = decode(schema, members, { unknown }) as { spec: Tree };
  if (isKnown) makers.set(deepFreeze(members.spec), makerOf(withPartsOf(spec, like)));
  return isKnown;
}

/** What makes the spec of a body; undefined: it has to be read. */
export function makerOfSpec({ spec }: { readonly spec?: unknown }): Maker | undefined {
  return typeof spec === 'object' && spec !== null ? makers.get(spec) : undefined;
}

/** Reads the rest of a body whose spec is known. The object has a spec of its own. */
export function readRest(schema: ObjectSchema, body: object, make: Maker, unknown?: (path: string) => void): object {
  const spec = make();
  return decode(schema, { ...body, spec }, { from: { spec }, unknown }) as object;
}

/**
 * Written for the one spec: its fields are set one by one in their order, as a decoder does, so that they lie in memory as
 * those of any other spec. A copy of another kind is slower to make, and far slower to work with.
 */
function makerOf(spec: Tree): Maker {
  const code = new Code();
  const items: string[] = [];
  const makeItem = (item: unknown) => {
    if (!isTree(item)) return code.constant(deepFreeze(item));
    const name = `item${items.length}`;
    items.push(name);
    code.add(`const ${name} = {};`);
    for (const key in item) code.add(`${field(name, key)} = ${code.constant(deepFreeze(item[key]))};`);
    return name;
  };
  code.add('const spec = {};');
  for (const key in spec) {
    const value = spec[key];
    const made = Array.isArray(value) ? `[${value.map(makeItem).join(', ')}]` : code.constant(deepFreeze(value));
    code.add(`${field('spec', key)} = ${made};`);
  }
  code.add('return spec;');
  return code.compile('');
}
