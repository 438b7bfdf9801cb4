/**
 * The definitions of the published schemas: the named shapes of all kinds. A shape is published under the package of
 * its home, a group and version. One that several versions of a kind share is published once for each of them.
 */
import type { GroupVersionKind } from '../../../api/object-types.ts';
import { memoized } from '../../../base/collections/memoized.ts';
import { PersistentVolumeClaim } from '../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { PodTemplate } from '../../../kinds/groups/core/pod/pod-template.ts';
import { type Kind, splitApiVersion } from '../../../kinds/kind.ts';
import { DeleteOptions } from '../../../kinds/shapes/meta/delete-options.ts';
import { Status } from '../../../kinds/shapes/meta/status.ts';
import type { Fields, ObjectSchema, Schema } from '../../../schema/schema.ts';
import type { Registry, ServedResource } from '../../objects/registry/registry.ts';
import { discoveryShapes } from './discovery-shapes.ts';
import { definitionName, fixedHome, META, SHAPES_OF_EACH_VERSION } from './names.ts';
import { ListMeta, listShape, WatchEvent } from './shapes.ts';

export interface Definition {
  readonly name: string;
  readonly shape: ObjectSchema;
  /** The group and version of the definition, from which the shapes of its fields are resolved. */
  readonly home: string;
  readonly kinds: GroupVersionKind[];
  /** The fields that use it, and the lists and maps of such elements, each with its own options. */
  readonly uses: ObjectSchema[];
  /** The uses as elements of a list or map. */
  readonly elements: ObjectSchema[];
}

/** The version of the core group, which owns the shapes of its objects, even if other kinds use them. */
const CORE = 'v1';

/**
 * Kinds of the core group whose shapes are embedded in those of other groups. The shapes belong to the core group even
 * on a server that does not serve these kinds, such as that of a federation.
 */
const EMBEDDED: readonly Root[] = [Pod, PodTemplate, PersistentVolumeClaim].map(({ hub, kind }: Kind) => ({
  shape: hub.schema,
  apiVersion: CORE,
  versions: new Set([CORE]),
  kind,
}));

/** A kind in one version, from which its shapes are collected. */
interface Root {
  readonly shape: ObjectSchema;
  readonly apiVersion: string;
  /** All versions in which the object is served. */
  readonly versions: ReadonlySet<string>;
  readonly kind: string;
}

type ServedKinds = Pick<Registry, 'kinds' | 'apiVersions' | 'resource'>;

export class Definitions {
  readonly all = new Map<string, Definition>();
  readonly #homes: ReadonlyMap<string, ReadonlySet<string>>;

  constructor(registry: ServedKinds) {
    const roots = rootsOf(registry);
    this.#homes = homesOf([...EMBEDDED, ...roots]);
    // Added before Status, which contains an older form of the same name.
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

  /** Returns the definition name of a shape used by a definition of `home`. */
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
    for (const field of ownFields(shape)) {
      const inner = objectIn(field);
      if (!inner) continue;
      const used = this.#add(inner, home);
      if (inner !== field) used.elements.push(inner);
    }
    return definition;
  }
}

/**
 * Determines the home of each shape: the core group if one of its kinds has it; otherwise the versions that all kinds
 * with the shape have in common. A Job is served in one version and a CronJob in several, so a JobSpec belongs to that
 * one.
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
      // All parts of a core group's shape belong to the core group, too.
      if (known === core) return;
      const shared = SHAPES_OF_EACH_VERSION.has(inner.name) ? union : common;
      homes.set(outline, apiVersion === CORE ? core : known ? shared(known, versions) : versions);
      for (const next of shapesIn(inner)) visit(next, seen);
    };
    visit(shape, new Set());
  }
  return homes;
}

/**
 * Identifies a shape by its name, its fields, and which of them are always present. Other options, such as the rules of
 * a template, may differ between uses: for clients it is the same shape.
 */
const outlineOf = ({ name, fields }: ObjectSchema) => `${name} ${fieldsOutline(fields)}`;

const fieldsOutline = memoized((fields: Fields): string => {
  const marked = Object.entries(fields).map(([field, schema]) => (schema.zero ? `${field}!` : field));
  return marked.sort().join();
});

function common(left: ReadonlySet<string>, right: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...left].filter((version) => right.has(version)));
}

function union(left: ReadonlySet<string>, right: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...left, ...right]);
}

function rootsOf(registry: ServedKinds): Root[] {
  const roots: Root[] = [];
  const subroots = new Map<string, Root>();
  for (const kind of registry.kinds) {
    const versions = new Set(kind.versions.map(({ apiVersion }) => apiVersion));
    for (const version of kind.versions) {
      const { apiVersion } = version;
      const resource = registry.resource(apiVersion, kind.plural);
      if (!resource) continue;
      roots.push({ shape: version.schema, apiVersion, versions, kind: kind.kind });
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

function bodiesOf({ subresources }: ServedResource): Root[] {
  return [...subresources.values()].flatMap(({ body: { schema, apiVersion, kind } }) =>
    schema ? [{ shape: schema, apiVersion, versions: new Set([apiVersion]), kind }] : [],
  );
}

/** Returns the fields whose shapes are published as separate definitions. */
export function ownFields({ fields, published }: ObjectSchema): readonly Schema[] {
  if (!published) return Object.values(fields);
  return fields.metadata ? [fields.metadata] : [];
}

function* shapesIn(shape: ObjectSchema): Generator<ObjectSchema> {
  for (const field of ownFields(shape)) {
    const inner = objectIn(field);
    if (inner) yield inner;
  }
}

/** Returns the shape of the objects in a field, including those inside lists and maps. */
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
