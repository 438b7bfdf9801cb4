/**
 * Kubernetes' published schemas, and where ours differ from them. Release 1.36 decides wherever it knows a field; 1.7
 * adds the fields that exist only there.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Kind, Version } from '../../src/kinds/kind.ts';
import { joinPath } from '../../src/schema/field-error.ts';
import type { ListSchema, ObjectSchema, Schema } from '../../src/schema/schema.ts';

/** A definition or a property of an OpenAPI 2 document. */
export interface Published {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly items?: Published;
  readonly properties?: Readonly<Record<string, Published>>;
  readonly additionalProperties?: Published;
  readonly 'x-kubernetes-group-version-kind'?: readonly { group: string; version: string; kind: string }[];
  readonly 'x-kubernetes-patch-merge-key'?: string;
  readonly 'x-kubernetes-patch-strategy'?: string;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: string;
}

/** Document of one release. */
export class PublishedDocument {
  readonly #definitions: Readonly<Record<string, Published>>;
  readonly #byKind = new Map<string, Published>();

  constructor(
    /** True for the newer release, which alone publishes how server-side apply sees lists and maps. */
    readonly knowsApply: boolean,
    definitions: Readonly<Record<string, Published>>,
  ) {
    this.#definitions = definitions;
    for (const definition of Object.values(definitions)) {
      for (const { group, version, kind } of definition['x-kubernetes-group-version-kind'] ?? []) {
        this.#byKind.set(`${group}/${version}/${kind}`, definition);
      }
    }
  }

  hasGroup(group: string): boolean {
    return [...this.#byKind.keys()].some((key) => key.startsWith(`${group}/`));
  }

  kind(version: Version, kind: string): Published | undefined {
    return this.#byKind.get(`${version.group}/${version.version}/${kind}`);
  }

  resolve(place: Published): Published {
    if (!place.$ref) return place;
    const definition = this.#definitions[nameOf(place.$ref)];
    if (!definition) throw new Error(`the document has no ${place.$ref}`);
    return definition;
  }
}

const nameOf = (ref: string) => ref.slice('#/definitions/'.length);

/** Returns the directory that the environment names, or the one beside the project; undefined if there is none. */
export function referenceDirectory(): string | undefined {
  const directory = process.env.QUARTERDECK_REFERENCE ?? resolve(import.meta.dirname, '../../../shared/reference');
  return existsSync(join(directory, 'openapi-1.36.json')) ? directory : undefined;
}

export interface Reference {
  readonly newer: PublishedDocument;
  readonly older: PublishedDocument;
}

export function loadReference(directory: string): Reference {
  const definitions = (file: string) => JSON.parse(readFileSync(join(directory, file), 'utf8')).definitions;
  return {
    newer: new PublishedDocument(true, definitions('openapi-1.36.json')),
    older: new PublishedDocument(false, definitions('openapi-1.7.json')),
  };
}

/** Place in both documents; a document that does not know it is left out. The newer one comes first. */
type Places = readonly { readonly document: PublishedDocument; readonly place: Published }[];

/**
 * Returns the differences of a kind in one of its versions; a version that neither document has is measured by the
 * stored one.
 */
export function differences(reference: Reference, kind: Kind, version: Version): string[] {
  const { newer, older } = reference;
  const known = [
    { document: newer, place: newer.kind(version, kind.kind) ?? newer.kind(kind.hub, kind.kind) },
    { document: older, place: older.kind(version, kind.kind) },
  ];
  const places = known.flatMap(({ document, place }) => (place ? [{ document, place }] : []));
  if (places.length === 0) return [`no document has ${kind.kind} of ${version.apiVersion}`];
  return compare({ ours: version.schema, places, path: '', seen: new Set(), older });
}

interface Comparison {
  readonly ours: Schema;
  readonly places: Places;
  readonly path: string;
  /** The shapes on the way, because some contain themselves. */
  readonly seen: ReadonlySet<object>;
  readonly older: PublishedDocument;
}

function compare(comparison: Comparison): string[] {
  const { ours, places, path, seen } = comparison;
  const schema = ours.type === 'lazy' ? ours.resolve() : ours;
  const best = places[0];
  if (!best) return [];
  const wanted = wordOf(best.document, best.place);
  if (schema.type === 'any') return wanted === 'any' ? [] : [`${path}: ours takes anything, published is ${wanted}`];
  const have = ourWord(schema);
  if (have !== wanted) return [`${path}: ours is ${have}, published is ${wanted}`];
  switch (schema.type) {
    case 'object':
      if (seen.has(schema.fields) || have === 'any') return [];
      return compareObject(schema, { ...comparison, seen: new Set([...seen, schema.fields]) });
    case 'list': {
      const items = { ...comparison, ours: schema.items, places: stepInto(places, 'items'), path: `${path}[]` };
      return [...compareList(schema, best, path), ...compare(items)];
    }
    case 'map': {
      const inner = stepInto(places, 'additionalProperties');
      const values = { ...comparison, ours: schema.values, places: inner, path: `${path}{}` };
      return [...compareAtomic(schema.atomic, best, path), ...compare(values)];
    }
    default:
      return [];
  }
}

const objectMeta: Published = { $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' };

function compareObject(schema: ObjectSchema, comparison: Comparison): string[] {
  const { places, path, older } = comparison;
  // Metadata is one shape, also where the older release does not know the object around it.
  const known = schema.name === 'ObjectMeta' ? [...places, { document: older, place: objectMeta }] : places;
  const shapes = known.map(({ document, place }) => ({ document, place: document.resolve(place) }));
  const published = new Set(shapes.flatMap(({ place }) => Object.keys(place.properties ?? {})));
  const found = compareAtomic(schema.atomic, places[0]!, path);
  const strategy = places[0]!.place['x-kubernetes-patch-strategy'] ?? '';
  if ((schema.retainKeys ?? false) !== strategy.includes('retainKeys')) {
    found.push(
      `${path}: ours ${schema.retainKeys ? 'retains' : 'merges'} keys, published is ${strategy || 'no strategy'}`,
    );
  }
  for (const field of published) {
    const at = joinPath(path, field);
    const ours = schema.fields[field];
    const here = shapes.flatMap(({ document, place }) => {
      const property = place.properties?.[field];
      return property ? [{ document, place: property }] : [];
    });
    if (ours) found.push(...compare({ ...comparison, ours, places: here, path: at }));
    else found.push(`${at}: missing`);
  }
  for (const field of Object.keys(schema.fields)) {
    if (!published.has(field)) found.push(`${joinPath(path, field)}: published nowhere`);
  }
  return found;
}

function compareList(schema: ListSchema, { document, place }: Places[number], path: string): string[] {
  const found: string[] = [];
  const strategy = place['x-kubernetes-patch-strategy'] ?? '';
  const merge = strategy.includes('merge') ? (place['x-kubernetes-patch-merge-key'] ?? true) : undefined;
  if (schema.merge !== merge) found.push(`${path}: ours merges by ${schema.merge}, published by ${merge}`);
  if ((schema.retainKeys ?? false) !== strategy.includes('retainKeys')) {
    found.push(`${path}: ours retains keys: ${schema.retainKeys ?? false}, published is ${strategy || 'no strategy'}`);
  }
  if (!document.knowsApply) return found;
  const type = place['x-kubernetes-list-type'] ?? 'atomic';
  if (schema.list !== type) found.push(`${path}: ours is a list of type ${schema.list}, published ${type}`);
  const keys = String(place['x-kubernetes-list-map-keys'] ?? '');
  if (String(schema.keys ?? '') !== keys) found.push(`${path}: ours has the keys ${schema.keys}, published ${keys}`);
  return found;
}

/** Compares a place, which can differ from the shape that it uses. */
function compareAtomic(atomic: boolean | undefined, { document, place }: Places[number], path: string): string[] {
  if (!document.knowsApply) return [];
  const type = place['x-kubernetes-map-type'] ?? document.resolve(place)['x-kubernetes-map-type'] ?? 'granular';
  const wanted = type === 'atomic';
  return (atomic ?? false) === wanted ? [] : [`${path}: ours is ${atomic ? '' : 'not '}atomic, published ${type}`];
}

function stepInto(places: Places, step: 'items' | 'additionalProperties'): Places {
  return places.flatMap(({ document, place }) => {
    const inner = document.resolve(place)[step];
    return inner ? [{ document, place: inner }] : [];
  });
}

const namedTypes: Readonly<Record<string, string>> = {
  Quantity: 'quantity',
  Time: 'time',
  MicroTime: 'microTime',
  IntOrString: 'int or string',
  Duration: 'duration',
  FieldsV1: 'any',
  RawExtension: 'any',
};

/** Returns the type of a place in a word: `object`, `list`, `int32`, `quantity`. */
export function wordOf(document: PublishedDocument, place: Published): string {
  if (place.$ref) {
    const named = namedTypes[nameOf(place.$ref).split('.').at(-1) ?? ''];
    if (named) return named;
  }
  const { type, format, properties, additionalProperties } = document.resolve(place);
  switch (type) {
    case 'string':
      return format === 'byte' ? 'bytes' : 'string';
    case 'integer':
      return format ?? 'int64';
    case 'array':
      return 'list';
    case 'object':
    case undefined:
      if (properties) return 'object';
      return additionalProperties ? 'map' : 'any';
    default:
      return type;
  }
}

/** Returns the type of a place in our schema. */
export function ourWord(schema: Schema): string {
  // A shape with its own published form, such as `JSON`, takes more than its fields say.
  if (schema.type === 'object' && schema.published) return 'any';
  switch (schema.type) {
    case 'string':
      return schema.format ?? 'string';
    case 'integer':
      return schema.format;
    case 'intOrString':
      return 'int or string';
    default:
      return schema.type;
  }
}
