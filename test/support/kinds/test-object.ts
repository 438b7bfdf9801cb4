/** Treats an object as a server does between decoding and storing it, without the server, for tests of kinds. */
import { clone, deepFreeze } from '../../../src/base/json/tree.ts';
import type { HookContext, Kind, KubeObject, ObjectOf, Version } from '../../../src/kinds/kind.ts';
import type { SubresourceName } from '../../../src/kinds/subresources.ts';
import { decode, LimitError } from '../../../src/schema/decode/decode.ts';
import type { FieldError } from '../../../src/schema/field-error.ts';
import { validate } from '../../../src/schema/validate.ts';

const NOW = '2026-01-02T03:04:05Z';

/** Options for writing an object; without a version, it is written in the stored one. */
interface Request {
  readonly apiVersion?: string;
  readonly subresource?: SubresourceName;
}

const context = (kind: Kind, { apiVersion = kind.hub.apiVersion, subresource }: Request): HookContext => ({
  now: NOW,
  uuid: () => '00000000-0000-4000-8000-000000000000',
  apiVersion,
  subresource,
});

/** Object as it would be stored, and its errors as `field: message`. */
interface Outcome<K extends Kind> {
  readonly object: ObjectOf<K>;
  readonly errors: readonly string[];
}

export function create<K extends Kind>(kind: K, input: unknown, request: Request = {}): Outcome<K> {
  return withinLimits(input, () => created(kind, input, request));
}

/** A list that is too long ends everything before validation. */
function withinLimits<K extends Kind>(input: unknown, write: () => Outcome<K>): Outcome<K> {
  try {
    return write();
  } catch (error) {
    if (!(error instanceof LimitError)) throw error;
    return { object: input as ObjectOf<K>, errors: error.errors.map(({ field, message }) => `${field}: ${message}`) };
  }
}

function created<K extends Kind>(kind: K, input: unknown, request: Request): Outcome<K> {
  const object = received(kind, input, request.apiVersion);
  if (kind.initialStatus) object.status = kind.initialStatus(object);
  else if (kind.subresources?.status) object.status = {};
  kind.onCreate?.(object, context(kind, request));
  return { object, errors: faults(kind, object, undefined, request) };
}

/** Replaces `old`, or writes one of its subresources. */
export function update<K extends Kind>(kind: K, old: ObjectOf<K>, input: unknown, request: Request = {}): Outcome<K> {
  return withinLimits(input, () => updated(kind, old, input, request));
}

function updated<K extends Kind>(kind: K, old: ObjectOf<K>, input: unknown, request: Request): Outcome<K> {
  deepFreeze(old);
  const object = received(kind, clone(input), request.apiVersion);
  const before: any = old;
  if (request.subresource === 'status') {
    for (const field of Object.keys(kind.fields)) if (field !== 'status') object[field] = before[field];
    kind.onStatusUpdate?.(object, old, context(kind, request));
  } else {
    if (before.status !== undefined) object.status = before.status;
    kind.onUpdate?.(object, old, context(kind, request));
  }
  return { object, errors: faults(kind, object, old, request) };
}

/** Returns a body of one version in the stored version's shape: decoded and converted, no more. */
export function received(kind: Kind, input: unknown, apiVersion = kind.hub.apiVersion): any {
  const version = versionOf(kind, apiVersion);
  const object: any = decode(version.schema, input);
  if (object.apiVersion) object.apiVersion = kind.hub.apiVersion;
  return version.toHub ? version.toHub(object) : object;
}

/** An object in the stored version's shape as another version shows it. */
export function shown(kind: Kind, object: unknown, apiVersion: string): any {
  const { fromHub } = versionOf(kind, apiVersion);
  const copy: any = { ...(clone(object) as object), apiVersion };
  return fromHub ? fromHub(copy) : copy;
}

function versionOf(kind: Kind, apiVersion: string): Version {
  const version = kind.versions.find((each) => each.apiVersion === apiVersion);
  if (!version) throw new Error(`${kind.kind} is not served in ${apiVersion}`);
  return version;
}

function faults(kind: Kind, object: KubeObject, old: KubeObject | undefined, request: Request): string[] {
  const { apiVersion = kind.hub.apiVersion, subresource } = request;
  const situation = { operation: old ? 'update' : 'create', old, subresource, apiVersion } as const;
  const found: FieldError[] = validate(kind.hub.schema, object, situation);
  const whole = { ...situation, parent: undefined, root: object, oldRoot: old };
  for (const rule of kind.rules ?? []) found.push(...rule(object, whole));
  return found.map(({ field, message }) => (field ? `${field}: ${message}` : message));
}
