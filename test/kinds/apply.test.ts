/**
 * Tests server-side apply with everything that the descriptions of kinds allow: merging, comparing and removing fields
 * agree with each other.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { clone, type Tree } from '../../src/base/json/tree.ts';
import { allKinds } from '../../src/kinds/all.ts';
import type { Kind } from '../../src/kinds/kind.ts';
import { checkFields } from '../../src/schema/fields/check.ts';
import { compareFields } from '../../src/schema/fields/compare.ts';
import { isEmptySet } from '../../src/schema/fields/field-set.ts';
import { mergeFields } from '../../src/schema/fields/merge.ts';
import { zeroObject } from '../../src/schema/fields/zero.ts';
import { applyConfiguration } from '../../src/server/objects/managed-fields/apply.ts';
import {
  listManagers,
  type Managers,
  NO_MANAGERS,
  readManagers,
} from '../../src/server/objects/managed-fields/managers.ts';
import { arbitrary } from './arbitrary.ts';

const RUNS = 10;
/** Metadata with a label, so that the manager owns something. */
const METADATA = { name: 'a', labels: { by: 'me' } };
const stored = allKinds.filter(({ verbs }) => verbs === undefined || verbs.includes('patch'));

const cases = stored.map((kind) => [kind.kind, kind] as const);

/** Generates configurations that can be applied: their list items can be told apart. */
const configuration = ({ hub }: Kind): fc.Arbitrary<Tree> =>
  arbitrary(hub.schema)
    .map((tree) => ({ ...(tree as Tree), apiVersion: hub.apiVersion, kind: 'x', metadata: METADATA }) as Tree)
    .filter((tree) => checkFields(hub.schema, tree).length === 0);

function apply(kind: Kind, config: Tree, { live, managers }: { live: unknown; managers: Managers }) {
  const { tree, managers: after } = applyConfiguration({
    kind,
    version: kind.hub,
    live,
    managers,
    config,
    manager: 'me',
    subresource: '',
    force: false,
    now: '2030-01-01T00:00:00Z',
    ownable: () => (fields) => fields,
  });
  return { live: tree, managers: readManagers(clone(listManagers(after)))! };
}

/** Returns a tree without empty parts: they are not owned, and decoding treats empty as absent. */
function essence(tree: unknown): unknown {
  if (typeof tree !== 'object' || tree === null) return tree ?? undefined;
  const left = Object.entries(tree).flatMap(([key, value]) => {
    const inside = essence(value);
    return inside === undefined ? [] : [[key, inside] as const];
  });
  if (left.length === 0) return undefined;
  return Array.isArray(tree) ? left.map(([, value]) => value) : Object.fromEntries(left);
}

test.each(cases)('%s: merged into itself, an object is the same', (_, kind) => {
  const { schema } = kind.hub;
  const check = (config: Tree) => {
    const { added, modified, removed } = compareFields(schema, config, mergeFields(schema, clone(config), config));
    expect([added, modified, removed].every(isEmptySet)).toBe(true);
  };
  fc.assert(fc.property(configuration(kind), check), { numRuns: RUNS });
});

test.each(cases)('%s: after a second configuration, the object has what that one says', (_, kind) => {
  const { schema } = kind.hub;
  const check = (first: Tree, second: Tree) => {
    const created = apply(kind, first, { live: zeroObject(schema), managers: NO_MANAGERS });
    const changed = apply(kind, second, created);
    expect(essence(changed.live)).toEqual(essence(second));
    const again = apply(kind, second, changed);
    expect([essence(again.live), again.managers]).toEqual([essence(changed.live), changed.managers]);
  };
  fc.assert(fc.property(configuration(kind), configuration(kind), check), { numRuns: RUNS });
});
