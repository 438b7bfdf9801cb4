/** Makes a kind of a custom resource definition. */
import { getOrInsert } from '../../base/collections/get-or-insert.ts';
import { deepEqual } from '../../base/json/tree.ts';
import type { JsonSchema } from '../../json-schema/json-schema.ts';
import { publishedSchema } from '../../json-schema/published.ts';
import { fieldsOf } from '../../json-schema/to-schema.ts';
import { DecodeError, decodeUnlimited } from '../../schema/decode/decode.ts';
import type { ObjectSchema } from '../../schema/schema.ts';
import type { Column } from '../columns/column.ts';
import type {
  CustomResourceDefinition,
  CustomResourceVersion,
} from '../groups/extension/apiextensions/definition-fields.ts';
import {
  type AsyncConversion,
  type DividedRuleContext,
  type Kind,
  type KubeObject,
  objectSchema,
  type Version,
} from '../kind.ts';
import { ObjectMeta } from '../shapes/meta/object-meta.ts';
import type { KindSubresources, ScaleDefinition } from '../subresources.ts';
import { customColumns } from './columns.ts';
import { jsonPath } from './json-path.ts';
import { type ValidatedVersion, validateCustom } from './validate.ts';

type Spec = CustomResourceDefinition['spec'];

export interface CustomKindOptions {
  /** The definition as it is now; read again for each schema, so that the kind does not hold on to all of them. */
  readonly definition: () => Pick<CustomResourceDefinition, 'spec'>;
  readonly names: CustomResourceDefinition['status']['acceptedNames'];
  /** Converts objects between versions; absent: only their apiVersion changes. */
  readonly conversion?: AsyncConversion | undefined;
  /** True when no new objects may be created because the definition is being deleted. */
  readonly isTerminating?: boolean;
}

/** `spec` is taken from without its schemas. */
export function customKind(spec: Spec, options: CustomKindOptions): Kind {
  const { group, scope } = spec;
  const { plural, kind, singular = kind.toLowerCase(), listKind = `${kind}List` } = options.names;
  const { shortNames = [], categories = [] } = options.names;
  const stored = spec.versions.find(({ storage }) => storage) ?? spec.versions[0]!;
  const others = spec.versions.filter((each) => each !== stored);
  const read = new SchemaReader(options.definition);
  const shared = { spec, kind, read, best: bestVersion(spec) };
  const hub = new CustomVersion(stored, shared);
  const versions = [hub, ...others.map((each) => new CustomVersion(each, { ...shared, hub }))];
  const byName = new Map(versions.map((version) => [version.apiVersion, version]));
  const hasStatus = hub.subresources.status === true;
  return Object.freeze({
    group,
    kind,
    plural,
    singular,
    listKind,
    short: shortNames,
    categories,
    scope: scope as Kind['scope'],
    description: `An object of the custom kind ${kind}.`,
    fields: {},
    hasTypedItems: true,
    subresources: hub.subresources,
    generation: true,
    requiresVersion: true,
    bareFinalizers: true,
    warnings: finalizerWarnings,
    ...(hasStatus ? { initialStatus: () => undefined } : {}),
    ...(options.isTerminating ? { verbs: VERBS_WHILE_TERMINATING } : {}),
    columns: hub.columns,
    dividedRules: (object: KubeObject, context: DividedRuleContext) => {
      // Objects that a webhook converts can only be checked in the stored version.
      const version = options.conversion ? hub : (byName.get(context.apiVersion ?? '') ?? hub);
      return version.validate(object, context);
    },
    ...(options.conversion ? { conversion: options.conversion } : {}),
    versions,
    hub,
  });
}

/**
 * Releases the schemas of a custom kind that is no longer served, and everything derived from them. Changes of its
 * objects stay in the history for minutes, and name the kind.
 */
export function releaseSchemas({ versions }: Kind): void {
  for (const version of versions) if (version instanceof CustomVersion) version.release();
}

/** A definition that is being deleted takes no new objects. */
const VERBS_WHILE_TERMINATING: Kind['verbs'] = [
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
];

/** Reads the schemas of a definition when they are first needed. */
class SchemaReader {
  readonly #schemas = new Map<string, JsonSchema>();

  constructor(private readonly definition: CustomKindOptions['definition']) {}

  of(name: string): JsonSchema {
    return getOrInsert(this.#schemas, name, () => {
      const version = this.definition().spec.versions.find((each) => each.name === name);
      return (version?.schema?.openAPIV3Schema as JsonSchema | undefined) ?? { type: 'object' };
    });
  }

  release(): void {
    this.#schemas.clear();
  }
}

interface VersionOptions {
  readonly spec: Spec;
  readonly kind: string;
  readonly read: SchemaReader;
  /** The version that users of a deprecated one should use; undefined if there is none. */
  readonly best: string | undefined;
  /** Stored version; absent in the stored version itself. */
  readonly hub?: CustomVersion;
}

/** Version of a custom kind; its schema is built on first use. */
class CustomVersion implements Version, ValidatedVersion {
  readonly apiVersion: string;
  readonly group: string;
  readonly version: string;
  readonly toHub: Version['toHub'];
  readonly fromHub: Version['fromHub'];
  readonly selectable: Version['selectable'];
  /** The paths of a definition are about the version that lists them. */
  readonly selectsShown = true;
  readonly subresources: KindSubresources;
  readonly orphansByDefault = false;
  readonly deprecated: string | undefined;
  readonly served: boolean;
  readonly columns: readonly Column<KubeObject>[];
  readonly scale: ScaleDefinition | undefined;
  #schema: ObjectSchema<KubeObject> | undefined;

  constructor(
    version: CustomResourceVersion,
    private readonly options: VersionOptions,
  ) {
    const { spec, hub } = options;
    this.group = spec.group;
    this.version = version.name;
    this.served = version.served;
    this.columns = customColumns(version) as readonly Column<KubeObject>[];
    this.apiVersion = `${spec.group}/${version.name}`;
    this.subresources = subresourcesOf(version);
    this.scale = this.subresources.scale;
    this.selectable = selectableOf(version);
    this.deprecated = version.deprecated ? warningOf(version, options) : undefined;
    if (hub && spec.conversion.strategy !== 'Webhook') {
      // The other version may describe other fields, and have other defaults.
      this.toHub = (object) => this.#adapt(object, hub);
      this.fromHub = (object) => this.#adapt(object, this);
    } else {
      this.toHub = undefined;
      this.fromHub = undefined;
    }
  }

  get source(): JsonSchema {
    return this.options.read.of(this.version);
  }

  get schema(): ObjectSchema<KubeObject> {
    this.#schema ??= this.#build();
    return this.#schema;
  }

  /** Drops the schema, which is read again on the next use. */
  release(): void {
    this.#schema = undefined;
    this.options.read.release();
  }

  /** `object` is in the stored version's shape. */
  validate(object: KubeObject, context: DividedRuleContext) {
    const { hub } = this.options;
    if (!hub || deepEqual(hub.source, this.source)) return validateCustom(object, this, context);
    const own = (each: KubeObject) => ({ ...each, apiVersion: this.apiVersion });
    return validateCustom(own(object), this, { ...context, old: context.old && own(context.old) });
  }

  #adapt(object: KubeObject, target: CustomVersion): KubeObject {
    const { hub } = this.options;
    if (hub && deepEqual(hub.source, this.source)) return object;
    const { metadata, ...rest } = object;
    try {
      return { ...(decodeUnlimited(target.schema, { ...rest, metadata: {} }) as KubeObject), metadata };
    } catch (error) {
      // It stays readable where the other version rejects it, or would fill in too much.
      if (error instanceof DecodeError) return object;
      throw error;
    }
  }

  #build(): ObjectSchema<KubeObject> {
    const { kind } = this.options;
    const { source } = this;
    const { description = `${kind} is a custom kind.` } = source;
    const schema = objectSchema(kind, fieldsOf(source, ObjectMeta), description);
    const preserveUnknown = source['x-kubernetes-preserve-unknown-fields'] === true;
    return Object.freeze({
      ...schema,
      ...(preserveUnknown ? { preserveUnknown } : {}),
      ...(this.selectable ? { extensions: publishedFields(this.selectable) } : {}),
      published: (version: 2 | 3, metadata: object) => publishedSchema(source, version, metadata),
    });
  }
}

/** `.spec.replicas` without the dot. */
const plain = (path: string) => path.replace(/^\./, '');

function subresourcesOf({ subresources }: CustomResourceVersion): KindSubresources {
  const { status, scale } = subresources ?? {};
  return Object.freeze({
    ...(status ? { status: true as const } : {}),
    ...(scale
      ? {
          scale: {
            replicas: plain(scale.specReplicasPath),
            observed: plain(scale.statusReplicasPath),
            selector: plain(scale.labelSelectorPath ?? ''),
          },
        }
      : {}),
  });
}

function selectableOf({ selectableFields = [] }: CustomResourceVersion): Version['selectable'] {
  if (selectableFields.length === 0) return undefined;
  return Object.fromEntries(
    selectableFields.map(({ jsonPath: path }) => {
      const read = jsonPath(path);
      const value = (object: KubeObject) => {
        const [found] = read?.(object) ?? [];
        return found === undefined || found === null ? '' : String(found);
      };
      return [plain(path), value];
    }),
  );
}

/** Publishes the fields that objects can be selected by. */
function publishedFields(selectable: NonNullable<Version['selectable']>) {
  return { 'x-kubernetes-selectable-fields': Object.keys(selectable).map((fieldPath) => ({ fieldPath })) };
}

function bestVersion({ versions }: Spec): string | undefined {
  const usable = versions.filter((each) => each.served && !each.deprecated).map((each) => each.name);
  return usable.sort(byAge)[0];
}

function warningOf({ name, deprecationWarning }: CustomResourceVersion, { spec, kind, best }: VersionOptions): string {
  if (deprecationWarning) return deprecationWarning;
  const old = `${spec.group}/${name} ${kind} is deprecated`;
  return best ? `${old}; use ${spec.group}/${best} ${kind}` : old;
}

/** Stable versions first, then the newest. */
function byAge(a: string, b: string): number {
  const rank = (name: string) => {
    const [, major = '0', stage = '', minor = '0'] = /^v(\d+)(alpha|beta)?(\d+)?$/.exec(name) ?? [];
    return [stage === '' ? 2 : stage === 'beta' ? 1 : 0, Number(major), Number(minor)] as const;
  };
  const [left, right] = [rank(a), rank(b)];
  for (let i = 0; i < 3; i++) if (left[i] !== right[i]) return right[i]! - left[i]!;
  return 0;
}

const STANDARD: ReadonlySet<string> = new Set(['orphan', 'foregroundDeletion', 'kubernetes']);

/** Warns of new finalizers without a domain and a path, which others might choose, too. */
function finalizerWarnings({ metadata }: KubeObject, old: KubeObject | undefined): readonly string[] {
  const { finalizers } = metadata;
  if (!finalizers) return NONE;
  const known = new Set(old?.metadata.finalizers);
  const added = finalizers.filter((name) => !known.has(name) && !name.includes('/') && !STANDARD.has(name));
  return added.sort().map((name) => {
    const form = name.includes('.')
      ? 'a domain-qualified finalizer name including a path (/)'
      : 'a domain-qualified finalizer name';
    return `metadata.finalizers: "${name}": prefer ${form} to avoid accidental conflicts with other finalizer writers`;
  });
}

const NONE: readonly string[] = [];
