/**
 * Describes a kind once, with everything that the server knows about it. Routes, discovery, pruning, defaulting,
 * validation, immutability, patches, scale, field selectors and the TypeScript type derive from this value. A kind that
 * is registered at run time is the same value.
 */
import type { DividedWork } from '../base/event-loop/in-turns.ts';
import type { TurnBudget } from '../base/event-loop/turn-budget.ts';
import { s } from '../schema/builders.ts';
import type { FieldError } from '../schema/field-error.ts';
import type { Fields, ObjectSchema, ObjectType, RuleContext } from '../schema/schema.ts';
import { type Column, type ColumnList, columnsOf, type Sparse } from './columns/column.ts';
import { deprecation } from './deprecation.ts';
import { ObjectMeta } from './shapes/meta/object-meta.ts';
import type { KindSubresources, SubresourceName } from './subresources.ts';

/** The part that every object has. */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** User who requests a write. */
export interface Requester {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Input of a hook: it runs inside the server, on the stored version's shape, and must not keep the object. */
export interface HookContext {
  /** RFC 3339, in seconds. */
  readonly now: string;
  readonly uuid: () => string;
  /** Group and version of the request, such as `batch/v1`. */
  readonly apiVersion: string;
  /** Subresource that is written, such as 'finalize'; undefined for the object itself. */
  readonly subresource: SubresourceName | undefined;
  /** User of the request; absent when the program itself makes it. */
  readonly user?: Requester;
}

/** Field selectors by name: how to read their value from an object. */
type Selectable<T = KubeObject> = Readonly<Record<string, { read(object: T): string }['read']>>;

/** Checks a whole object; paths are relative to the object. */
type ObjectRule<T = KubeObject> = {
  rule(object: T, context: RuleContext<T, T>): readonly FieldError[];
}['rule'];

/** Context of checks of a whole object that may take long. */
export interface DividedRuleContext extends Pick<RuleContext<KubeObject, KubeObject>, 'old' | 'subresource'> {
  /** The group and version of the request. */
  readonly apiVersion?: string | undefined;
  /** Budget of the turn: the check yields when it is spent. */
  readonly pace: Pick<TurnBudget, 'isSpent'>;
}

export interface VersionDefinition<T = KubeObject> {
  /** Top-level fields that this version describes differently from the stored one; the others are the same. */
  readonly fields?: Fields;
  /** Top-level fields of the stored version that this one does not have. */
  readonly omits?: readonly string[];
  /** Field selectors, where they have other names than in the stored version. They read the stored version's shape. */
  readonly selectable?: Selectable<T>;
  /** Subresources that this version has besides those of the kind. */
  readonly subresources?: KindSubresources;
  /**
   * Convert to and from the stored version. They get decoded and defaulted objects, whose `apiVersion` is already the
   * target's, and may change and return them.
   */
  toHub?(object: KubeObject): KubeObject;
  fromHub?(object: KubeObject): KubeObject;
  /** True when a delete orphans dependents unless the client says otherwise. */
  readonly orphansByDefault?: boolean;
  /** The warning for clients that use this version, where it is not among those of `deprecation.ts`. */
  readonly deprecated?: string;
}

/** `T` is the type of the kind's objects in the stored version. */
export interface KindDefinition<F extends Fields = Fields, T = KubeObject & ObjectType<F>> {
  readonly kind: string;
  /** Default: the singular with an `s`. */
  readonly plural?: string;
  /** Default: the kind's name in lower case. */
  readonly singular?: string;
  readonly short?: readonly string[];
  readonly categories?: readonly string[];
  readonly scope: 'Namespaced' | 'Cluster';
  readonly description: string;
  /** Versions by `group/version` (core: `v1`), the stored one first, then newest first. */
  readonly versions: Readonly<Record<string, VersionDefinition<T>>>;
  /** Top-level fields besides apiVersion, kind and metadata. */
  readonly fields: F;
  /** Converts objects between versions asynchronously; absent: `toHub` and `fromHub` of the versions do. */
  readonly conversion?: AsyncConversion;
  /** Problems of a name (already known not to be empty); `prefix` for a generateName. Default: a DNS subdomain. */
  readonly name?: (name: string, prefix: boolean) => readonly string[];
  /** The verbs of the kind, where it does not have all of them (a Binding can only be created). */
  readonly verbs?: readonly Verb[];
  /** The subresources of every version. */
  readonly subresources?: KindSubresources;
  /** Field selectors besides metadata.name and metadata.namespace. */
  readonly selectable?: Selectable<T>;
  /**
   * True when `metadata.generation` counts changes of everything but metadata and status; 'annotations' when changed
   * annotations count, too.
   */
  readonly generation?: boolean | 'annotations';
  /** The status a new object starts with; default: an empty one when the kind has the status subresource. */
  initialStatus?(object: T): unknown;
  /**
   * Runs before validation, on the decoded object in the stored version's shape; may change it, but not the parts that
   * it shares with the old one (its status). A new object has its name by then, even a generated one.
   */
  onCreate?(object: T, context: HookContext): void;
  onUpdate?(object: T, old: T, context: HookContext): void;
  /** Works like `onUpdate` for a write of the status, where the rest of the object is as it was. */
  onStatusUpdate?(object: T, old: T, context?: HookContext): void;
  /** Checks over the whole object, after those of its fields. */
  readonly rules?: readonly ObjectRule<T>[];
  /** Performs checks that clients define, and that may therefore take long. */
  dividedRules?(object: T, context: DividedRuleContext): DividedWork<readonly FieldError[]>;
  /**
   * Returns warnings for the client about an object that is stored nevertheless; `old` is undefined for a new object.
   * Called on every write, so it must be cheap when there is nothing to warn of. `quiet` is a part of the object that
   * is known to give no reason for a warning.
   */
  warnings?(object: T, old: T | undefined, quiet?: object): readonly string[];
  /** Works like `warnings` for a write of the status. */
  statusWarnings?(object: T): readonly string[];
  /** Warning for a delete without a propagation policy. */
  readonly deleteWarning?: string;
  /**
   * Seconds between a delete and the removal of the object, so that it can be shut down in order; absent: removed at
   * once. `requested` is the client's grace period.
   */
  gracePeriod?(object: T, requested: number | undefined): number;
  /** Termination of objects whose deletion takes work, as that of a namespace, before they are removed. */
  readonly termination?: {
    /** Marks the object as terminating. Called by every delete; may replace the object's parts but not change them. */
    begin(object: T): void;
    /** Reports whether work is left that keeps the object from being removed. */
    isPending(object: T): boolean;
  };
  /**
   * True when many objects are created from one template. No rule of a field in the spec then looks at anything outside
   * the spec: a spec that is valid in one object is valid in the next.
   */
  readonly fromTemplates?: boolean;
  /**
   * Top-level fields whose bytes other programs compare. They are written in the way of Go programs: keys in the order in
   * which the client sent them, characters of HTML escaped.
   */
  readonly rawFields?: readonly string[];
  /** True when objects contain passwords or tokens, which messages do not quote, also because of the audit log. */
  readonly confidential?: boolean;
  /**
   * Fields that a path of the API does not write, by the name of the subresource; `object` is the object itself. They
   * come on top of the status, or of everything else for the status. No manager owns them through that path.
   */
  readonly resetFields?: Readonly<Record<string, readonly string[]>>;
  /**
   * True when finalizers need no domain. Only custom kinds and their definitions may have such finalizers, which
   * clients are warned of.
   */
  readonly bareFinalizers?: boolean;
  /** True when a replace must name the resourceVersion that it replaces. */
  readonly requiresVersion?: boolean;
  /** True when a replace of an object that does not exist creates it. */
  readonly createOnUpdate?: boolean;
  /**
   * Strips fields for `export` beyond metadata and status, on a copy in the stored version's shape: those that the
   * kind's own hooks set and, unless `exact`, those that only mean something in this cluster.
   */
  onExport?(object: T, exact: boolean): void;
  /** Why an object cannot be exported, as an error for the client; undefined: it can. */
  exportProblem?(object: T, exact: boolean): string | undefined;
  /** Columns of tables; default: name and age. The builders passed in infer the type of the kind's objects. */
  readonly columns?: readonly Column<T>[] | ColumnList<T>;
  /** Further facts about table rows. Both read the stored version's shape. */
  readonly rows?: {
    /** Returns how an object has completed; undefined while it has not. */
    completed?(object: Sparse<T>): Completion | undefined;
    /** The order of a list, where it is not by namespace and name. */
    order?(a: Sparse<T>, b: Sparse<T>): number;
  };
}

/**
 * Converts the objects of a kind between its versions by asking another program, such as a webhook. A kind with it
 * declares no `toHub` and `fromHub`. Kinds without it are converted synchronously, and nothing waits for them.
 */
export interface AsyncConversion {
  /**
   * Converts objects of one version to another. `objects` are decoded, with the defaults of their version, and may be
   * taken over. Resolves with as many objects in the same order, which fit the schema of `target`; a conversion changes
   * neither names nor other metadata but labels and annotations. Rejects with an ApiError, which fails the request.
   */
  convert(objects: readonly KubeObject[], target: Version): Promise<readonly KubeObject[]>;
}

/** Result of an object that runs to completion: a reason for programs, a message for people. */
export interface Completion {
  readonly reason: string;
  readonly message: string;
}

export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

/** Served version of a kind. */
export interface Version<T = KubeObject> {
  readonly apiVersion: string;
  readonly group: string;
  readonly version: string;
  /** The whole object. */
  readonly schema: ObjectSchema<T>;
  readonly toHub: VersionDefinition['toHub'];
  readonly fromHub: VersionDefinition['fromHub'];
  /** Field selectors besides metadata.name and metadata.namespace, where it has any. */
  readonly selectable: Selectable | undefined;
  /** True when selectors read an object as this version shows it; otherwise they read the stored version's shape. */
  readonly selectsShown?: boolean;
  readonly subresources: KindSubresources;
  readonly orphansByDefault: boolean;
  readonly deprecated: string | undefined;
  /** False for a version that objects may be stored in, and that no client can use. */
  readonly served?: boolean;
  /** Columns of tables, where they are not those of the kind. */
  readonly columns?: readonly Column<KubeObject>[] | undefined;
}

/** Properties that a Kind has in another form than its definition. */
type Resolved = 'versions' | 'plural' | 'singular' | 'short' | 'categories' | 'columns' | 'rows';

export interface Kind<T = KubeObject> extends Omit<KindDefinition<Fields, T>, Resolved> {
  readonly _type?: T;
  /** API group of the stored version. */
  readonly group: string;
  readonly plural: string;
  readonly singular: string;
  readonly short: readonly string[];
  readonly categories: readonly string[];
  readonly columns: readonly Column<KubeObject>[] | undefined;
  readonly rows?: KindDefinition<Fields, KubeObject>['rows'];
  readonly listKind: string;
  /** True when each item of a list carries its kind and version, as those of custom kinds do. */
  readonly hasTypedItems?: boolean;
  /** The stored version. */
  readonly hub: Version<T>;
  readonly versions: readonly Version[];
}

/** The TypeScript type of a kind's objects, in the stored version. */
export type ObjectOf<K> = K extends { readonly _type?: infer T } ? Exclude<T, undefined> : never;

const typeFields = {
  kind: s.string(
    'Kind of the object in CamelCase, such as Pod. Defaults to the kind of the request path. Cannot be changed.',
  ),
  apiVersion: s.string(
    'API group and version that the object is written in, such as apps/v1; the core group has the version alone (v1). ' +
      'The server converts between the versions of a kind.',
  ),
};

const objectMetadata = s.use(
  ObjectMeta,
  "Standard object's metadata: its name, namespace, labels, annotations and bookkeeping by the server.",
  { default: {} },
);

/** Returns the schema of a whole object: its own fields, and those that every object has. */
export function objectSchema(kind: string, own: Fields, description: string): ObjectSchema<KubeObject> {
  const fields = { ...typeFields, metadata: objectMetadata, ...own };
  return s.object(kind, description, fields) as unknown as ObjectSchema<KubeObject>;
}

export function defineKind<const F extends Fields>(definition: KindDefinition<F>): Kind<KubeObject & ObjectType<F>> {
  const versions = Object.entries(definition.versions).map(([apiVersion, version]): Version => {
    const [group, name] = splitApiVersion(apiVersion);
    return Object.freeze({
      apiVersion,
      group,
      version: name,
      schema: objectSchema(
        definition.kind,
        { ...without(definition.fields, version.omits), ...version.fields },
        definition.description,
      ),
      toHub: version.toHub,
      fromHub: version.fromHub,
      selectable: version.selectable ?? definition.selectable,
      subresources: Object.freeze({ ...definition.subresources, ...version.subresources }),
      orphansByDefault: version.orphansByDefault ?? false,
      deprecated: version.deprecated ?? deprecation(apiVersion, definition.kind),
    });
  });
  const { columns, rows, singular = definition.kind.toLowerCase(), ...rest } = definition;
  const hub = versions[0] as Version<KubeObject & ObjectType<F>> | undefined;
  if (!hub) throw new Error(`kind ${definition.kind} has no version`);
  if (definition.conversion && versions.some(({ toHub, fromHub }) => toHub || fromHub)) {
    throw new Error(`kind ${definition.kind} has synchronous conversions beside an asynchronous one`);
  }
  return Object.freeze({
    ...rest,
    group: hub.group,
    plural: definition.plural ?? `${singular}s`,
    singular,
    short: definition.short ?? [],
    categories: definition.categories ?? [],
    columns: (typeof columns === 'function' ? columnsOf(columns) : columns) as Kind['columns'],
    ...(rows ? { rows: rows as Kind['rows'] } : {}),
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
