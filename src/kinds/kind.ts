/**
 * A kind, once: everything the server knows about it. Routes, discovery, pruning, defaulting, validation, immutability,
 * patches, scale, field selectors and the TypeScript type derive from this value. A kind that appears at run time is the
 * same value.
 */
import { s } from '../schema/builders.ts';
import type { FieldError } from '../schema/field-error.ts';
import type { Fields, ObjectSchema, ObjectType, RuleContext } from '../schema/schema.ts';
import type { Column } from './columns/column.ts';
import { ObjectMeta } from './shapes/meta/object-meta.ts';

/** The part that every object has. */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** Who asks for a write. */
export interface Requester {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** What a hook may use: it runs inside the server, on the stored version's shape, and must not keep the object. */
export interface HookContext {
  /** RFC 3339, in seconds. */
  readonly now: string;
  readonly uuid: () => string;
  /** The group and version of the request, such as `batch/v1`. */
  readonly apiVersion: string;
  /** The subresource that is written, such as 'finalize'; undefined for the object itself. */
  readonly subresource: string | undefined;
  /** Absent where the program itself asks. */
  readonly user?: Requester;
}

export interface VersionDefinition {
  /** Top-level fields that this version describes differently from the stored one; the others are the same. */
  readonly fields?: Fields;
  /** Top-level fields of the stored version that this one does not have. */
  readonly omits?: readonly string[];
  /** Field selectors, where they have other names than in the stored version. They read the stored version's shape. */
  readonly selectable?: Readonly<Record<string, (object: any) => string>>;
  /** To and from the stored version, on decoded and defaulted objects. `apiVersion` is already the target's. */
  readonly toHub?: (object: any) => any;
  readonly fromHub?: (object: any) => any;
  /** What a delete does with dependents when the client does not say. */
  readonly orphansByDefault?: boolean;
  /** Clients are warned, in these words. */
  readonly deprecated?: string;
}

export interface ScaleDefinition {
  /** Field paths, such as `spec.replicas`. */
  readonly replicas: string;
  readonly observed: string;
  /** Where the selector stands: an object with `matchLabels`, or a plain map of labels. */
  readonly selector: string;
}

export interface KindDefinition<F extends Fields = Fields> {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  /** The kind's name in small letters, where absent. */
  readonly singular?: string;
  readonly short?: readonly string[];
  readonly categories?: readonly string[];
  readonly scope: 'Namespaced' | 'Cluster';
  readonly description: string;
  /** Served versions by `group/version` (core: `v1`), the stored one first, then newest first. */
  readonly versions: Readonly<Record<string, VersionDefinition>>;
  /** Top-level fields besides apiVersion, kind and metadata. */
  readonly fields: F;
  /** What is wrong with a name (already known not to be empty); `prefix` for a generateName. Default: a DNS subdomain. */
  readonly name?: (name: string, prefix: boolean) => readonly string[];
  /** The verbs the kind has, where it has not all of them (a Binding can only be created). */
  readonly verbs?: readonly Verb[];
  readonly subresources?: {
    readonly status?: boolean;
    readonly scale?: ScaleDefinition;
    /** Others that the server knows by name: `binding`, `eviction`, `rollback`, `finalize`, `token`, … */
    readonly others?: readonly string[];
  };
  /** Field selectors besides metadata.name and metadata.namespace. */
  readonly selectable?: Readonly<Record<string, (object: any) => string>>;
  /**
   * True when `metadata.generation` counts changes of everything but metadata and status; 'annotations' when changed
   * annotations count, too.
   */
  readonly generation?: boolean | 'annotations';
  /** The status a new object starts with; default: an empty one when the kind has the status subresource. */
  readonly initialStatus?: (object: any) => unknown;
  /**
   * Runs before validation, on the decoded object in the stored version's shape; may change it, but not what it shares
   * with the old one (its status). A new object has its name by then, also when that was generated.
   */
  readonly onCreate?: (object: any, context: HookContext) => void;
  readonly onUpdate?: (object: any, old: any, context: HookContext) => void;
  /** The same for a write of the status, where the rest of the object is as it was. */
  readonly onStatusUpdate?: (object: any, old: any, context?: HookContext) => void;
  /** Checks over the whole object, after those of its fields. Paths are from the object. */
  readonly rules?: readonly ((object: any, context: RuleContext) => readonly FieldError[])[];
  /**
   * What a client should hear about an object that is stored all the same; `old` is absent of a new one. Looked for in
   * every write, so that it must cost next to nothing where there is nothing to say. `quiet` is a part of the object about
   * which there was nothing to say when another one had it.
   */
  readonly warnings?: (object: any, old: any, quiet?: object) => readonly string[];
  /** The same for a write of the status. */
  readonly statusWarnings?: (object: any) => readonly string[];
  /** What a client should hear that deletes and does not say what becomes of the dependents. */
  readonly deleteWarning?: string;
  /**
   * Seconds an object lives on after a delete, so that somebody can end it in order; absent: deleted at once. `asked` is
   * the client's grace period.
   */
  readonly gracePeriod?: (object: any, asked: number | undefined) => number;
  /**
   * Whether many are made from one template. No rule of a field in the spec then looks at anything outside the spec: what
   * is right in one object is right in the next.
   */
  readonly fromTemplates?: boolean;
  /** Whether a replace must name the resourceVersion that it replaces. */
  readonly requiresVersion?: boolean;
  /** Whether a replace of an object that does not exist creates it. */
  readonly createOnUpdate?: boolean;
  /** What `export` strips beyond metadata; on a copy, in the stored version's shape. */
  readonly onExport?: (object: any) => void;
  /** What tables show of an object; its name and its age where absent. */
  readonly columns?: readonly Column[];
  /** What else tables know of the rows. Both read the stored version's shape. */
  readonly rows?: {
    /** Why an object has come to its end; undefined while it has not. */
    readonly completed?: (object: any) => Completion | undefined;
    /** In what order a whole list is shown, where not by namespace and name. */
    readonly order?: (a: any, b: any) => number;
  };
}

/** How something that runs to an end has ended: one word for programs, a sentence for people. */
export interface Completion {
  readonly reason: string;
  readonly message: string;
}

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

/** One served version of a kind. */
export interface Version {
  readonly apiVersion: string;
  readonly group: string;
  readonly version: string;
  /** The whole object. */
  readonly schema: ObjectSchema<KubeObject>;
  readonly toHub: ((object: any) => any) | undefined;
  readonly fromHub: ((object: any) => any) | undefined;
  /** Field selectors besides metadata.name and metadata.namespace, where it has any. */
  readonly selectable: KindDefinition['selectable'];
  readonly orphansByDefault: boolean;
  readonly deprecated: string | undefined;
}

export interface Kind<T = any> extends Omit<KindDefinition, 'versions' | 'singular' | 'short' | 'categories'> {
  readonly _type?: T;
  readonly singular: string;
  readonly short: readonly string[];
  readonly categories: readonly string[];
  readonly listKind: string;
  /** The stored version. */
  readonly hub: Version;
  readonly versions: readonly Version[];
}

/** The TypeScript type of a kind's objects, in the stored version. */
export type ObjectOf<K> = K extends Kind<infer T> ? T : never;

const typeFields = {
  kind: s.string({
    description:
      'Kind of the object in CamelCase, such as Pod. Defaults to the kind of the request path. Cannot be changed.',
  }),
  apiVersion: s.string({
    description:
      'API group and version that the object is written in, such as apps/v1; the core group has the version alone (v1). ' +
      'The server converts between the versions of a kind.',
  }),
};

const objectMetadata = s.use(ObjectMeta, {
  default: {},
  description:
    'Standard metadata of the object: its name, namespace, labels, annotations and bookkeeping by the server.',
});

export function defineKind<const F extends Fields>(definition: KindDefinition<F>): Kind<KubeObject & ObjectType<F>> {
  const versions = Object.entries(definition.versions).map(([apiVersion, version]): Version => {
    const [group, name] = splitApiVersion(apiVersion);
    return Object.freeze({
      apiVersion,
      group,
      version: name,
      schema: s.object(
        definition.kind,
        {
          ...typeFields,
          metadata: objectMetadata,
          ...without(definition.fields, version.omits),
          ...version.fields,
        },
        { description: definition.description },
      ) as unknown as ObjectSchema<KubeObject>,
      toHub: version.toHub,
      fromHub: version.fromHub,
      selectable: version.selectable ?? definition.selectable,
      orphansByDefault: version.orphansByDefault ?? false,
      deprecated: version.deprecated,
    });
  });
  const hub = versions[0];
  if (!hub) throw new Error(`kind ${definition.kind} has no version`);
  return Object.freeze({
    ...definition,
    singular: definition.singular ?? definition.kind.toLowerCase(),
    short: definition.short ?? [],
    categories: definition.categories ?? [],
    listKind: `${definition.kind}List`,
    versions,
    hub,
  });
}

function without(fields: Fields, names: readonly string[] = []): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}

/** `apps/v1` is [`apps`, `v1`]; `v1` is [``, `v1`]. */
export function splitApiVersion(apiVersion: string): [group: string, version: string] {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? ['', apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)];
}
