/** Handles unknown and duplicate fields of a written body: ignore, warn (the default) or reject (`fieldValidation`). */
import type { Call, RequestNotes } from '../../../api/call.ts';
import { badRequest } from '../../../api/errors.ts';
import { type KubeObject, splitApiVersion } from '../../../kinds/kind.ts';
import { unknownFields } from '../../../schema/decode/unknown-fields.ts';
import { invalid } from '../../../schema/field-error.ts';
import type { ObjectSchema } from '../../../schema/schema.ts';
import { invalidObject } from './check.ts';

/** A body, and the destination of warnings about its fields. */
export interface SentBody {
  readonly call: Pick<Call, 'verb' | 'body' | 'duplicates' | 'options' | 'patchType'>;
  /** The destination of warnings; when absent, unknown and duplicate fields are ignored. */
  readonly notes?: RequestNotes;
}

const MAX_FAULTS = 100;
/** Limits for bodies whose faults are reported in order: with more fields, or longer paths, the order may differ. */
const MAX_ORDERED_PATHS = 10_000;
const MAX_PATH_LENGTH = 2_000;

const VALIDATED_VERBS: ReadonlySet<string> = new Set(['create', 'update', 'patch']);

/** Reports whether unknown and duplicate fields must be handled. */
export function validatesFields({ call, notes }: SentBody): boolean {
  return notes !== undefined && VALIDATED_VERBS.has(call.verb) && call.options?.fieldValidation !== 'Ignore';
}

/** Warns about unknown and duplicate fields of a body that was decoded as an object, or rejects it. */
export function reportBodyFaults(sent: SentBody, unknown: readonly string[], expected: KubeType): void {
  const faults = bodyFaults(sent.call, unknown);
  if (mayPass(sent, faults)) return;
  const { kind, apiVersion } = expected;
  const [, version] = splitApiVersion(apiVersion);
  throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${rejection(faults)}`);
}

/** Warns about faults of a patch, or rejects it. Only fields that the patch introduced count. */
export function reportPatchFaults(sent: SentBody, unknown: readonly string[], patched: Patched): void {
  const { call } = sent;
  const { schema, before, tree, kind } = patched;
  const known = unknown.length > 0 ? new Set(unknownFields(schema, before)) : undefined;
  const brought = unknown.filter((path) => !known?.has(path));
  const faults = [...patchFaults(call), ...brought.map((path) => quoted('unknown', path))].slice(0, MAX_FAULTS);
  if (mayPass(sent, faults)) return;
  const value = call.patchType === 'strategic' ? call.body : tree;
  const shown = kind.confidential ? REDACTED : JSON.stringify(value);
  throw invalidObject({ group: '', kind: '' }, '', [invalid('patch', shown, rejection(faults))]);
}

/** Warns about duplicate fields of an applied configuration, or rejects it. Unknown fields are errors anyway. */
export function reportConfigurationFaults(sent: SentBody): void {
  const { duplicates = [] } = sent.call;
  if (duplicates.length === 0 || !validatesFields(sent)) return;
  const faults = duplicates.slice(0, MAX_FAULTS);
  if (mayPass(sent, faults)) return;
  const lines = faults.map((fault) => `\n  ${fault}`).join('');
  throw badRequest(`error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:${lines}`);
}

type KubeType = Pick<KubeObject, 'kind' | 'apiVersion'>;

interface Patched {
  readonly schema: ObjectSchema;
  readonly before: object;
  readonly tree: unknown;
  readonly kind: { readonly confidential?: boolean };
}

/** Returns the faults in the order of the body. A duplicate inside something unknown is reported as unknown only. */
function bodyFaults({ body, duplicates = [] }: SentBody['call'], unknown: readonly string[]): string[] {
  const faults = unknown.map((path) => ({ path, text: quoted('unknown', path) }));
  for (const path of duplicates) {
    if (!unknown.some((other) => isWithin(path, other))) faults.push({ path, text: quoted('duplicate', path) });
  }
  if (unknown.length > 0 && faults.length > unknown.length) {
    const order = new Map(pathsOf(body, '').map((path, at) => [path, at]));
    faults.sort((a, b) => (order.get(a.path) ?? 0) - (order.get(b.path) ?? 0));
  }
  return faults.slice(0, MAX_FAULTS).map(({ text }) => text);
}

const OPERATION_FIELDS = new Set(['op', 'path', 'from', 'value']);

function patchFaults({ body, duplicates = [], patchType }: SentBody['call']): string[] {
  if (patchType !== 'json') return duplicates.map((path) => quoted('duplicate', path));
  const unknown = (Array.isArray(body) ? body : []).flatMap((operation, i) =>
    Object.keys(operation ?? {})
      .filter((field) => !OPERATION_FIELDS.has(field))
      .map((field) => quoted('unknown', `[${i}].${field}`)),
  );
  return [...unknown, ...duplicates.map((path) => quoted('duplicate', path))].map((fault) => `json patch ${fault}`);
}

function quoted(what: 'unknown' | 'duplicate', path: string): string {
  return `${what} field ${JSON.stringify(path)}`;
}

function rejection(faults: readonly string[]): string {
  return `strict decoding error: ${faults.join(', ')}`;
}

function isWithin(path: string, other: string): boolean {
  // Long paths of duplicates are truncated.
  if (other.length > MAX_PATH_LENGTH) return path.startsWith(other.slice(0, MAX_PATH_LENGTH));
  if (!path.startsWith(other)) return false;
  const next = path[other.length];
  return next === undefined || next === '.' || next === '[';
}

/** Warns about the faults; returns false when the client asked to reject them. */
function mayPass({ call, notes }: SentBody, faults: readonly string[]): boolean {
  if (faults.length === 0) return true;
  if (call.options?.fieldValidation === 'Strict') return false;
  for (const fault of faults) notes?.warn(fault);
  return true;
}

/** Returns the paths of a body in order: enough to sort the faults of an ordinary body. */
function pathsOf(tree: unknown, path: string, found: string[] = []): readonly string[] {
  if (typeof tree !== 'object' || tree === null || path.length > MAX_PATH_LENGTH) return found;
  for (const key in tree) {
    if (found.length >= MAX_ORDERED_PATHS) break;
    const at = Array.isArray(tree) ? `${path}[${key}]` : path ? `${path}.${key}` : key;
    found.push(at);
    pathsOf((tree as Record<string, unknown>)[key], at, found);
  }
  return found;
}

/** Placeholder for the values of a confidential kind in messages, as in Kubernetes. */
export const REDACTED = '<secret contents redacted>';
