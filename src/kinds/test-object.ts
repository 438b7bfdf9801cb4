/** For tests of kinds: what a server does with an object between decoding and storing it, without the server. */
import { clone, deepFreeze } from '../base/tree.ts';
import { decode } from '../schema/decode.ts';
import type { FieldError } from '../schema/field-error.ts';
import { validate } from '../schema/validate.ts';
import type { HookContext, Kind, ObjectOf } from './kind.ts';

const NOW = '2026-01-02T03:04:05Z';

const context = (kind: Kind, subresource: string | undefined): HookContext => ({
  now: NOW,
  uuid: () => '00000000-0000-4000-8000-000000000000',
  apiVersion: kind.hub.apiVersion,
  subresource,
});

/** The object as it would be stored, and what is wrong with it, as `field: message`. */
interface Outcome<K extends Kind> {
  readonly object: ObjectOf<K>;
  readonly errors: readonly string[];
}

/** A create in the stored version. */
export function create<K extends Kind>(kind: K, input: unknown): Outcome<K> {
  const object: any = decode(kind.hub.schema, input);
  if (kind.initialStatus) object.status = kind.initialStatus(object);
  else if (kind.subresources?.status) object.status = {};
  kind.onCreate?.(object, context(kind, undefined));
  return { object, errors: faults(kind, object, undefined, undefined) };
}

/** A replace of `old`, or a write of one of its subresources. */
export function update<K extends Kind>(kind: K, old: ObjectOf<K>, input: unknown, subresource?: string): Outcome<K> {
  deepFreeze(old);
  const object: any = decode(kind.hub.schema, clone(input));
  const before: any = old;
  if (subresource === 'status') {
    for (const field of Object.keys(kind.fields)) if (field !== 'status') object[field] = before[field];
  } else {
    if (before.status !== undefined) object.status = before.status;
    kind.onUpdate?.(object, old, context(kind, subresource));
  }
  return { object, errors: faults(kind, object, old, subresource) };
}

function faults(kind: Kind, object: unknown, old: unknown, subresource: string | undefined): string[] {
  const request = { operation: old ? 'update' : 'create', old, subresource, apiVersion: kind.hub.apiVersion } as const;
  const found: FieldError[] = validate(kind.hub.schema, object, request);
  const whole = { ...request, parent: undefined, root: object, oldRoot: old };
  for (const rule of kind.rules ?? []) found.push(...rule(object, whole));
  return found.map(({ field, message }) => (field ? `${field}: ${message}` : message));
}
