/**
 * The named shapes of everything that is served. A shape is published under the package that it is at home in; one that
 * several versions of a kind share is published once for each, as if it had been written down in each.
 */

import { splitApiVersion } from '../../kinds/kind.ts';
import { DeleteOptions } from '../../kinds/shapes/meta/delete-options.ts';
import { Status } from '../../kinds/shapes/meta/status.ts';
import type { Fields, ObjectSchema, Schema } from '../../schema/schema.ts';
import type { Registry, ServedResource } from '../registry.ts';
import { discoveryShapes } from './discovery-shapes.ts';
import { definitionName, fixedHome, META } from './names.ts';
import { ListMeta, listShape, WatchEvent } from './shapes.ts';

export interface GroupVersionKind {
  readonly group: string;
  readonly kind: string;
  readonly version: string;
}

export interface Definition {
  readonly name: string;
  readonly shape: ObjectSchema;
  /** The package that it is at home in; what its fields name is looked up from there. */
  readonly home: string;
  readonly kinds: GroupVersionKind[];
  /** The fields that use it, and the lists and maps whose elements it describes, each with its own options. */
  readonly uses: ObjectSchema[];
  /** Those of the uses that are elements of a list or map. */
  readonly elements: ObjectSchema[];
}

/** The core group's version: what one of its objects has is its own, whoever else has it. */
const CORE = 'v1';

/** One object of the API, in one version: where the walk over the shapes starts. */
interface Root {
  readonly shape: ObjectSchema;
  readonly apiVersion: string;
  /** All versions that the object is served in. */
  readonly versions: ReadonlySet<string>;
  readonly kind: string;
}

export class Definitions {
  readonly all = new Map<string, Definition>();
  readonly #homes: ReadonlyMap<string, ReadonlySet<string>>;

  constructor(registry: Registry) {
    const roots = rootsOf(registry);
    this.#homes = homesOf(roots);
    // Before a Status brings the older form of it that an object can carry.
    this.#add(ListMeta, META);
    for (const { shape, apiVersion, kind } of roots) this.#put(shape, apiVersion).kinds.push(kindOf(apiVersion, kind));
    const options = this.#add(DeleteOptions, META);
    const event = this.#add(WatchEvent, META);
    for (const apiVersion of registry.apiVersions) {
      options.kinds.push(kindOf(apiVersion, 'DeleteOptions'));
      event.kinds.push(kindOf(apiVersion, 'WatchEvent'));
    }
    for (const shape of [Status, ...discoveryShapes]) this.#add(shape, META).kinds.push(kindOf(CORE, shape.name));
  }

  /** What a shape is called that is named by something at home in `home`. */
  nameOf(shape: ObjectSchema, home: string): string {
    return definitionName(this.#homeOf(shape, home), shape.name);
  }

  #homeOf(shape: ObjectSchema, from: string): string {
    const fixed = fixedHome(shape.name);
    if (fixed) return fixed;
    const homes = this.#homes.get(outlineOf(shape));
    if (!homes || homes.has(from)) return from;
    const [only] = homes;
    return homes.size === 1 && only ? only : from;
  }

  #add(shape: ObjectSchema, from: string): Definition {
    const definition = this.#put(shape, this.#homeOf(shape, from));
    definition.uses.push(shape);
    return definition;
  }

  #put(shape: ObjectSchema, home: string): Definition {
    const name = definitionName(home, shape.name);
    const known = this.all.get(name);
    if (known) return known;
    const definition: Definition = { name, shape, home, kinds: [], uses: [], elements: [] };
    this.all.set(name, definition);
    for (const field of Object.values(shape.fields)) {
      const inner = objectIn(field);
      if (!inner) continue;
      const used = this.#add(inner, home);
      if (inner !== field) used.elements.push(inner);
    }
    return definition;
  }
}

/**
 * Where each shape is at home: in the core group when one of its objects has it; else in the versions that all objects
 * with the shape have in common. A Job is served in one version and a CronJob in several: a job's spec is of the one.
 */
function homesOf(roots: readonly Root[]): Map<string, ReadonlySet<string>> {
  const homes = new Map<string, ReadonlySet<string>>();
  const core = new Set([CORE]);
  for (const { shape, apiVersion, versions } of roots) {
    const visit = (inner: ObjectSchema, seen: Set<string>) => {
      const outline = outlineOf(inner);
      if (seen.has(outline)) return;
      seen.add(outline);
      const known = homes.get(outline);
      // What a core object has, it has with everything inside.
      if (known === core) return;
      homes.set(outline, apiVersion === CORE ? core : known ? common(known, versions) : versions);
      for (const next of shapesIn(inner)) visit(next, seen);
    };
    visit(shape, new Set());
  }
  return homes;
}

const outlines = new WeakMap<Fields, string>();

/**
 * What tells shapes apart: name, fields, and which of these are always there. The rest of a description may differ from
 * place to place, as the rules for a template do, and it is the same shape to a client.
 */
function outlineOf({ name, fields }: ObjectSchema): string {
  let outline = outlines.get(fields);
  if (outline === undefined) {
    const marked = Object.entries(fields).map(([field, schema]) => (schema.zero ? `${field}!` : field));
    outline = marked.sort().join();
    outlines.set(fields, outline);
  }
  return `${name} ${outline}`;
}

function common(left: ReadonlySet<string>, right: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...left].filter((version) => right.has(version)));
}

function rootsOf(registry: Registry): Root[] {
  const roots: Root[] = [];
  const subroots = new Map<string, Root>();
  for (const kind of registry.kinds) {
    const versions = new Set(kind.versions.map(({ apiVersion }) => apiVersion));
    for (const version of kind.versions) {
      const { apiVersion } = version;
      roots.push({ shape: version.schema, apiVersion, versions, kind: kind.kind });
      const resource = registry.resource(apiVersion, kind.plural)!;
      if (resource.verbs.includes('list')) {
        const shape = listShape(kind.listKind, version.schema);
        roots.push({ shape, apiVersion, versions, kind: kind.listKind });
      }
      for (const root of bodiesOf(resource)) subroots.set(`${root.apiVersion}/${root.kind}`, root);
    }
  }
  const served = new Set(roots.map(({ apiVersion, kind }) => `${apiVersion}/${kind}`));
  for (const [key, root] of subroots) if (!served.has(key)) roots.push(root);
  return [...roots.filter(isCore), ...roots.filter((root) => !isCore(root))];
}

const isCore = ({ apiVersion }: Root) => apiVersion === CORE;

/** The bodies of subresources. */
function bodiesOf({ subresources }: ServedResource): Root[] {
  return [...subresources.values()].flatMap(({ body: { schema, apiVersion, kind } }) =>
    schema ? [{ shape: schema, apiVersion, versions: new Set([apiVersion]), kind }] : [],
  );
}

function* shapesIn(shape: ObjectSchema): Generator<ObjectSchema> {
  for (const field of Object.values(shape.fields)) {
    const inner = objectIn(field);
    if (inner) yield inner;
  }
}

/** The object that a field holds, whatever lists and maps are around it. */
export function objectIn(schema: Schema): ObjectSchema | undefined {
  switch (schema.type) {
    case 'object':
      return schema;
    case 'list':
      return objectIn(schema.items);
    case 'map':
      return objectIn(schema.values);
    case 'lazy':
      return objectIn(schema.resolve());
    default:
      return undefined;
  }
}

export function kindOf(apiVersion: string, kind: string): GroupVersionKind {
  const [group, version] = splitApiVersion(apiVersion);
  return { group, kind, version };
}
