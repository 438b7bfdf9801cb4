/** Tests one contract over every kind in every version that it is served in. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clone, deepFreeze } from '../../src/base/json/tree.ts';
import { allKinds } from '../../src/kinds/all.ts';
import { Cluster } from '../../src/kinds/groups/federation/cluster.ts';
import type { HookContext, Kind, Version } from '../../src/kinds/kind.ts';
import { decode } from '../../src/schema/decode/decode.ts';
import { joinPath } from '../../src/schema/field-error.ts';
import type { Schema } from '../../src/schema/schema.ts';
import { validate } from '../../src/schema/validate.ts';
import { arbitrary, full } from './arbitrary.ts';

const runs = { numRuns: 40 };

const served = [...allKinds, Cluster].flatMap((kind) =>
  kind.versions.map((version) => ({ name: `${kind.kind} of ${version.apiVersion}`, kind, version })),
);

/** Returns an object as a client sends it. */
const sent = (kind: Kind, version: Version, body: unknown): object => ({
  ...(body as object),
  kind: kind.kind,
  apiVersion: version.apiVersion,
});

const anySent = (kind: Kind, version: Version) =>
  arbitrary(version.schema).map((body) => sent(kind, version, body)) as fc.Arbitrary<object>;

const fullySent = (kind: Kind, version: Version) => sent(kind, version, full(version.schema));

/** Holds for any object of the kind, and for one that has every field. */
function forAny(kind: Kind, version: Version, holds: (input: object) => void): void {
  holds(fullySent(kind, version));
  fc.assert(fc.property(anySent(kind, version), holds), runs);
}

describe.each(served)('$name', ({ kind, version }) => {
  const read = (input: unknown): any => decode(version.schema, input);

  it('decodes what fits its description into a tree of its own', () => {
    forAny(kind, version, (input) => {
      const parts = [...objectsIn(deepFreeze(input)), ...objectsIn(read(input))];
      expect(new Set(parts).size).toBe(parts.length);
    });
  });

  it('has defaults that settle at once', () => {
    forAny(kind, version, (input) => {
      const once = read(input);
      expect(read(once)).toEqual(once);
    });
  });

  it('is the same after a round trip through JSON', () => {
    forAny(kind, version, (input) => {
      const object = read(input);
      expect(JSON.parse(JSON.stringify(object))).toStrictEqual(object);
    });
  });

  it('names fields that exist wherever it names one', () => {
    expect(namingFaults(version.schema)).toEqual([]);
  });
});

describe.each(served.filter(({ kind, version }) => version !== kind.hub))('$name', ({ kind, version }) => {
  it('is the same after a way to the stored version and back', () => {
    forAny(kind, version, (input) => {
      const object = decode(version.schema, input);
      const hub = decode(kind.hub.schema, toHub(kind, version, object));
      expect(fromHub(version, hub)).toEqual(object);
    });
  });

  it('shows an object of the stored version without losing anything', () => {
    forAny(kind, kind.hub, (input) => {
      const hub = decode(kind.hub.schema, input);
      const shown = fromHub(version, hub);
      expect(toHub(kind, version, shown)).toEqual(hub);
      // A client that sends it back may have it filled up by the defaults of its version.
      expect(toHub(kind, version, decode(version.schema, shown))).toMatchObject(hub);
    });
  });
});

describe.each(allKinds.map((kind) => ({ name: kind.kind, kind })))('$name', ({ kind }) => {
  it('says what it is', () => {
    expect(kind.description).toMatch(/^[A-Z].*\.$/);
  });

  it('judges whatever is written, and never throws', () => {
    const pair = fc.tuple(anySent(kind, kind.hub), anySent(kind, kind.hub));
    fc.assert(
      fc.property(pair, ([before, after]) => {
        const old = decode(kind.hub.schema, before);
        judge(kind, old, undefined);
        judge(kind, decode(kind.hub.schema, after), deepFreeze(clone(old)));
      }),
      runs,
    );
  });

  it('can be selected by the fields it offers', () => {
    forAny(kind, kind.hub, (input) => {
      const object = decode(kind.hub.schema, input);
      for (const [field, of] of Object.entries(kind.selectable ?? {})) expect(of(object), field).toBeTypeOf('string');
    });
  });

  it('has the fields that its subresources work on', () => {
    const { status, scale } = kind.subresources ?? {};
    const paths = [...(status ? ['status'] : []), ...(scale ? [scale.replicas, scale.observed, scale.selector] : [])];
    for (const path of paths) expect(hasPath(kind.hub.schema, path.split('.')), path).toBe(true);
  });
});

describe('all kinds together', () => {
  it('share no name', () => {
    const names = allKinds.flatMap(({ group, kind, plural, singular, short }) => [
      `${group}/${kind}`,
      `${group}/${plural}`,
      ...new Set([`short ${singular}`, ...short.map((each) => `short ${each}`)]),
    ]);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  it('give one name to one set of fields', () => {
    const shapes = new Map<string, string>();
    const faults = new Set<string>();
    for (const { version } of served) {
      visit(version.schema, '', (schema) => {
        if (schema.type !== 'object') return;
        const fields = Object.keys(schema.fields).sort().join();
        const key = `${version.apiVersion} ${schema.name}`;
        if ((shapes.get(key) ?? fields) !== fields) faults.add(key);
        shapes.set(key, fields);
      });
    }
    expect([...faults]).toEqual([]);
  });
});

function toHub(kind: Kind, version: Version, object: any): any {
  const copy = { ...clone(object), apiVersion: kind.hub.apiVersion };
  return version.toHub ? version.toHub(copy) : copy;
}

function fromHub(version: Version, hub: any): any {
  const copy = { ...clone(hub), apiVersion: version.apiVersion };
  return version.fromHub ? version.fromHub(copy) : copy;
}

/** Does everything that a server does before it stores an object, except for its own bookkeeping. */
function judge(kind: Kind, object: any, old: any): void {
  const { apiVersion } = kind.hub;
  Object.assign(object.metadata, { name: 'name', uid: 'u', creationTimestamp: '2026-01-02T03:04:05Z' });
  const hook: HookContext = { now: '2026-01-02T03:04:05Z', uuid: () => 'u', apiVersion, subresource: undefined };
  if (old) {
    object.status = old.status;
    kind.onUpdate?.(object, old, hook);
  } else {
    if (kind.initialStatus) object.status = kind.initialStatus(object);
    kind.onCreate?.(object, hook);
  }
  const context = { operation: old ? 'update' : 'create', old, subresource: undefined, apiVersion } as const;
  validate(kind.hub.schema, object, context);
  for (const rule of kind.rules ?? []) rule(object, { ...context, parent: undefined, root: object, oldRoot: old });
}

function objectsIn(tree: unknown): object[] {
  if (typeof tree !== 'object' || tree === null) return [];
  return [tree, ...Object.values(tree).flatMap(objectsIn)];
}

/** Calls back for every part of a description once; a shape that contains itself is entered once. */
function visit(schema: Schema, path: string, see: (schema: Schema, path: string) => void, inside: object[] = []): void {
  see(schema, path);
  switch (schema.type) {
    case 'object':
      if (inside.includes(schema.fields)) return;
      for (const [field, node] of Object.entries(schema.fields)) {
        visit(node, joinPath(path, field), see, [...inside, schema.fields]);
      }
      return;
    case 'list':
      visit(schema.items, `${path}[]`, see, inside);
      return;
    case 'map':
      visit(schema.values, `${path}{}`, see, inside);
      return;
    case 'lazy':
      visit(schema.resolve(), path, see, inside);
      return;
    default:
      return;
  }
}

/** Keys that no item has, and defaults that are not among the words. */
function namingFaults(schema: Schema): string[] {
  const faults: string[] = [];
  visit(schema, '', (node, path) => {
    if (node.type === 'list') {
      const items = node.items.type === 'lazy' ? node.items.resolve() : node.items;
      const fields = items.type === 'object' ? Object.keys(items.fields) : [];
      const keys = [...(node.keys ?? []), ...(typeof node.merge === 'string' ? [node.merge] : [])];
      for (const key of keys) if (!fields.includes(key)) faults.push(`${path}: items have no field ${key}`);
      if (node.merge === true && items.type === 'object') faults.push(`${path}: objects merge by a key`);
      if (node.list === 'map' && !node.keys?.length) faults.push(`${path}: a map list has keys`);
    }
    if (node.type !== 'string' || !node.enum) return;
    if (new Set(node.enum).size < node.enum.length) faults.push(`${path}: a word stands twice`);
    if (typeof node.default === 'string' && !node.enum.includes(node.default)) {
      faults.push(`${path}: the default is not among the words`);
    }
  });
  return faults;
}

function hasPath(schema: Schema, [step, ...rest]: readonly string[]): boolean {
  if (step === undefined) return true;
  const field = schema.type === 'object' ? schema.fields[step] : undefined;
  return field !== undefined && hasPath(field, rest);
}
