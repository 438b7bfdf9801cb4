import { expect, it } from 'vitest';
import { fc, forAll } from '../../../../test/support/property-runs.ts';
import { examples, kindOf, varied } from '../../../../test/support/varied.ts';
import type { Version } from '../../../kinds/kind.ts';
import { decode } from '../../../schema/decode/decode.ts';
import { fieldsOf } from '../../../schema/fields/fields-of.ts';
import { knownUpdate } from './known-updates.ts';
import { identifierOf, listManagers, type Manager, readManagers } from './managers.ts';
import { ownableFields } from './reset-fields.ts';
import type { ManagedFieldsEntry } from './stored/managed-entry.ts';
import { afterUpdate, type Change } from './update.ts';
import { VersionedTree } from './versioned.ts';

const IDENTIFIERS: readonly (readonly [name: string, values: readonly [string, string]])[] = [
  ['uid', ['0f1e2d3c-aaaa-bbbb-cccc-000000000001', '0f1e2d3c-aaaa-bbbb-cccc-000000000002']],
  ['ip', ['10.244.0.7', '10.244.0.8']],
];

/** An object with an identifier as a value in a list. */
const job = {
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'a' },
  status: { active: 1, uncountedTerminatedPods: { succeeded: [IDENTIFIERS[0]![1][0]] } },
};

/** Replaces the identifiers in list items: equal ones stay equal. */
function withIdentifiers(tree: any, which: 0 | 1): any {
  if (Array.isArray(tree)) return tree.map((item) => withIdentifiers(item, which));
  if (tree === IDENTIFIERS[0]![1][0]) return IDENTIFIERS[0]![1][which];
  if (typeof tree !== 'object' || tree === null) return tree;
  const out = Object.fromEntries(Object.entries(tree).map(([key, value]) => [key, withIdentifiers(value, which)]));
  for (const [name, values] of IDENTIFIERS) if (typeof out[name] === 'string') out[name] = values[which];
  return out;
}

function variedObject(example: any, choices: readonly number[]): any {
  let next = 0;
  const tree = varied(structuredClone(example), () => choices[next++ % choices.length]!);
  const { kind, apiVersion } = example;
  const ownerReferences =
    choices[0]! % 3 > 0 ? [{ apiVersion: 'v1', kind: 'Node', name: 'a', uid: 'of-the-owner' }] : [];
  const metadata = { ...tree.metadata, name: 'a', ownerReferences };
  try {
    return decode(kindOf(example)!.version.schema, { ...tree, kind, apiVersion, metadata });
  } catch {
    return undefined;
  }
}

interface Write {
  readonly before: any;
  readonly after: any;
  readonly subresource: string;
  readonly time: string;
}

const UPDATERS = ['creator', 'controller', 'other'];

/** Managers of an object: its creator, and owners of parts of it. */
function managersOf(version: Version, before: any, choices: readonly number[]): ManagedFieldsEntry[] | undefined {
  const owned = [before, { metadata: before.metadata }, { status: before.status }].slice(0, 1 + (choices[1]! % 3));
  const managers = owned.map((part, index): Manager => {
    const operation = choices[2 + index]! % 2 === 0 ? 'Apply' : 'Update';
    const subresource = index === 2 ? 'status' : '';
    const time = `2026-01-0${1 + (choices[5 + index]! % 5)}T00:00:00Z`;
    const fields = fieldsOf(version.schema, part);
    return { manager: UPDATERS[index]!, operation, apiVersion: version.apiVersion, subresource, time, fields };
  });
  const entries = listManagers(new Map(managers.map((each) => [identifierOf(each), each])));
  return entries?.some(({ fieldsV1 }) => Object.keys(fieldsV1 as object).length === 0) ? undefined : entries;
}

it('equals a full computation, for other objects with other identifiers at other times', () => {
  let known = 0;
  const choices = fc.array(fc.nat(11), { minLength: 40, maxLength: 40 });
  forAll({ numRuns: 1500 }, fc.constantFrom(...examples, job), choices, choices, (example, one, other) => {
    const found = kindOf(example);
    const [before, after] = [variedObject(example, one), variedObject(example, other)];
    if (!found || !before || !after) return;
    const { kind, version } = found;
    const manager = UPDATERS[one[10]! % UPDATERS.length]!;
    const subresource = kind.subresources?.status && other[10]! % 2 === 0 ? 'status' : '';
    const check = ({ before, after, subresource, time }: Write) => {
      const live = managersOf(version, before, one);
      if (!live) return;
      const change: Change = {
        ...{ kind, version },
        before: new VersionedTree(kind, version, before),
        after: new VersionedTree(kind, version, after),
        ownable: (asked) => ownableFields(kind, asked, subresource),
      };
      const updater = { manager, apiVersion: version.apiVersion, subresource, time };
      const got = knownUpdate(change, live, updater);
      if (!got) return;
      known++;
      const expected = listManagers(afterUpdate(change, readManagers(live)!, updater));
      expect(JSON.parse(JSON.stringify(got))).toEqual(JSON.parse(JSON.stringify(expected)));
    };
    const [first, second] = [0, 1].map((which) => (tree: any) => withIdentifiers(tree, which as 0 | 1));
    check({ before: first!(before), after: first!(after), subresource, time: '2026-01-03T00:00:00Z' });
    check({ before: second!(before), after: second!(after), subresource, time: '2026-01-04T00:00:00Z' });
    // The identifier changes with the write.
    check({ before: second!(before), after: first!(after), subresource, time: '2026-01-04T00:00:00Z' });
  });
  expect(known).toBeGreaterThan(500);
});

it('distinguishes the owners of identifiers', () => {
  const { kind, version } = kindOf({ kind: 'ConfigMap', apiVersion: 'v1' })!;
  const owner = (uid: string, controller: boolean) => ({ apiVersion: 'v1', kind: 'Pod', name: uid, uid, controller });
  const object = (...ownerReferences: object[]) => ({
    ...{ kind: 'ConfigMap', apiVersion: 'v1' },
    metadata: { name: 'a', ownerReferences },
  });
  const before = object(owner('one', false), owner('two', false));
  const live = listManagers(
    new Map(
      ['one', 'two'].map((uid) => {
        const fields = fieldsOf(version.schema, { metadata: { ownerReferences: [owner(uid, false)] } });
        const manager: Manager = {
          ...{ manager: uid, operation: 'Apply', apiVersion: 'v1', subresource: '' },
          ...{ time: '2026-01-01T00:00:00Z', fields },
        };
        return [uid, manager];
      }),
    ),
  )!;
  const losers = [object(owner('one', true), owner('two', false)), object(owner('one', false), owner('two', true))].map(
    (after) => {
      const change: Change = {
        ...{ kind, version },
        before: new VersionedTree(kind, version, before),
        after: new VersionedTree(kind, version, after),
        ownable: (asked) => ownableFields(kind, asked, ''),
      };
      const updater = { manager: 'writer', apiVersion: 'v1', subresource: '', time: '2026-01-02T00:00:00Z' };
      const entries = knownUpdate(change, live, updater)!;
      return ['one', 'two'].filter((name) => !entries.some(({ manager }) => manager === name));
    },
  );
  expect(losers).toEqual([['one'], ['two']]);
});
