/**
 * What becomes of fields that nobody knows, or that were said twice: nothing (Ignore), a warning (Warn, the default) or a
 * refusal (Strict).
 */
import { badRequest } from '../../base/errors.ts';
import { type KubeObject, splitApiVersion } from '../../kinds/kind.ts';
import { invalid } from '../../schema/field-error.ts';
import type { ObjectSchema } from '../../schema/schema.ts';
import { unknownFields } from '../../schema/unknown-fields.ts';
import type { Call } from '../api.ts';
import { invalidObject } from './check.ts';

/** The part of a call that strictness looks at. Without `warnings` nobody wants to know. */
export type Strictness = Pick<Call, 'body' | 'duplicates' | 'options' | 'warnings'>;

/** More are not told. */
const MOST = 100;

/** Speaks of the faults of a body that was read as an object. */
export function tellBodyFaults(call: Strictness, unknown: readonly string[], expected: KubeType): void {
  const faults = bodyFaults(call, unknown);
  if (mayPass(call, faults)) return;
  const { kind, apiVersion } = expected;
  const [, version] = splitApiVersion(apiVersion);
  throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${refusal(faults)}`);
}

/** The same for a patch and the object that it made of another. Only what the patch brought in counts. */
export function tellPatchFaults(call: PatchCall, unknown: readonly string[], patched: Patched): void {
  const { schema, before } = patched;
  const known = unknown.length > 0 ? new Set(unknownFields(schema, before)) : undefined;
  const brought = unknown.filter((path) => !known?.has(path));
  const faults = [...patchFaults(call), ...brought.map((path) => quoted('unknown', path))].slice(0, MOST);
  if (mayPass(call, faults)) return;
  const shown = JSON.stringify(call.patchType === 'strategic' ? call.body : patched.tree);
  throw invalidObject({ group: '', kind: '' }, '', [invalid('patch', shown, refusal(faults))]);
}

type KubeType = Pick<KubeObject, 'kind' | 'apiVersion'>;
type PatchCall = Strictness & Pick<Call, 'patchType'>;

interface Patched {
  readonly schema: ObjectSchema;
  readonly before: object;
  readonly tree: unknown;
}

/** In the order of the body. What stands twice inside something unknown, or is itself unknown, is told once. */
function bodyFaults({ body, duplicates = [] }: Strictness, unknown: readonly string[]): string[] {
  const told = unknown.map((path) => ({ path, text: quoted('unknown', path) }));
  for (const path of duplicates) {
    if (!unknown.some((other) => isWithin(path, other))) told.push({ path, text: quoted('duplicate', path) });
  }
  if (unknown.length > 0 && told.length > unknown.length) {
    const order = new Map(pathsOf(body, '').map((path, at) => [path, at]));
    told.sort((a, b) => (order.get(a.path) ?? 0) - (order.get(b.path) ?? 0));
  }
  return told.slice(0, MOST).map(({ text }) => text);
}

const OPERATION_FIELDS = new Set(['op', 'path', 'from', 'value']);

function patchFaults({ body, duplicates = [], patchType }: PatchCall): string[] {
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

function refusal(faults: readonly string[]): string {
  return `strict decoding error: ${faults.join(', ')}`;
}

function isWithin(path: string, other: string): boolean {
  if (!path.startsWith(other)) return false;
  const next = path[other.length];
  return next === undefined || next === '.' || next === '[';
}

/** Notes the faults, unless the client wants to be refused for them. */
function mayPass({ options, warnings }: Strictness, faults: readonly string[]): boolean {
  if (faults.length === 0) return true;
  if (options?.fieldValidation === 'Strict') return false;
  warnings?.push(...faults);
  return true;
}

function pathsOf(tree: unknown, path: string): string[] {
  if (typeof tree !== 'object' || tree === null) return [];
  return Object.entries(tree).flatMap(([key, value]) => {
    const at = Array.isArray(tree) ? `${path}[${key}]` : path ? `${path}.${key}` : key;
    return [at, ...pathsOf(value, at)];
  });
}
