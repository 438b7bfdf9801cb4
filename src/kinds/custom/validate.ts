/** Checks objects of custom kinds against the schema of the version that a request used. */
import { addAll } from '../../base/collections/add-all.ts';
import type { DividedWork } from '../../base/event-loop/in-turns.ts';
import { isTree, type Tree } from '../../base/json/tree.ts';
import type { JsonSchema } from '../../json-schema/json-schema.ts';
import { embeddedErrors, listErrors } from '../../json-schema/structure.ts';
import { validateInTurns } from '../../json-schema/validator.ts';
import { type FieldError, invalid } from '../../schema/field-error.ts';
import type { DividedRuleContext, KubeObject } from '../kind.ts';
import type { ScaleDefinition } from '../subresources.ts';
import { hasRules } from './rules/has-rules.ts';
import { runRules } from './rules/run-rules.ts';

/** Parts of a version that define valid objects. */
export interface ValidatedVersion {
  readonly source: JsonSchema;
  readonly scale: ScaleDefinition | undefined;
}

const BLOCKING: ReadonlySet<FieldError['reason']> = new Set([
  ...(['FieldValueNotSupported', 'FieldValueRequired', 'FieldValueTooLong'] as const),
  ...(['FieldValueTooMany', 'FieldValueTypeInvalid'] as const),
]);

/**
 * Everything that is wrong with an object, in the shape of the version. A write of the status checks the status only. Yields when
 * the pace is spent.
 */
export function* validateCustom(
  object: KubeObject,
  { source, scale }: ValidatedVersion,
  { old, subresource, pace }: DividedRuleContext,
): DividedWork<FieldError[]> {
  const found = yield* subresource === 'status'
    ? statusErrors(object, old, source, pace)
    : validateInTurns(source, { value: object, old }, pace);
  if (scale) addAll(found, scaleErrors(object, scale, subresource));
  if (subresource !== 'status') {
    addAll(found, embeddedErrors(source, object));
    if (!old || listErrors(source, old).length === 0) addAll(found, listErrors(source, object));
  }
  if (hasRules(source)) {
    if (found.some(({ reason }) => BLOCKING.has(reason))) found.push(UNCHECKED);
    else addAll(found, yield* runRules(source, object, old, pace));
  }
  return found;
}

const UNCHECKED = invalid(
  '<nil>',
  null,
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
);

function* statusErrors(
  object: KubeObject & { status?: unknown },
  old: (KubeObject & { status?: unknown }) | undefined,
  source: JsonSchema,
  pace: DividedRuleContext['pace'],
): DividedWork<FieldError[]> {
  const schema = source.properties?.status;
  if (!schema || object.status === undefined) return [];
  return yield* validateInTurns(schema, { value: object.status, old: old?.status, path: 'status' }, pace);
}

const MAX_INT32 = 2 ** 31 - 1;

function scaleErrors(
  object: KubeObject,
  { replicas, observed, selector }: ScaleDefinition,
  subresource: string | undefined,
) {
  const found: FieldError[] = [];
  const check = (path: string) => {
    const value = valueAt(object, path);
    if (value === undefined) return;
    const wrong = (detail: string, shown: unknown = value) => void found.push(invalid(`.${path}`, shown, detail));
    if (typeof value !== 'number' || !Number.isInteger(value)) {
      wrong(`.${path} accessor error: ${shownValue(value)} is of the type ${goType(value)}, expected int64`, 0);
    } else if (value < 0) wrong('should be a non-negative integer');
    else if (value > MAX_INT32) wrong(`should be less than or equal to ${MAX_INT32}`);
  };
  if (subresource !== 'status') check(replicas);
  check(observed);
  const labels = selector ? valueAt(object, selector) : undefined;
  if (labels !== undefined && typeof labels !== 'string') {
    const detail = `.${selector} accessor error: ${shownValue(labels)} is of the type ${goType(labels)}, expected string`;
    found.push(invalid(`.${selector}`, '', detail));
  }
  return found;
}

function valueAt(object: unknown, path: string): unknown {
  let at = object;
  for (const name of path.split('.')) {
    if (!isTree(at) || !Object.hasOwn(at as Tree, name)) return undefined;
    at = (at as Tree)[name];
  }
  return at;
}

const shownValue = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

function goType(value: unknown): string {
  if (typeof value === 'string') return 'string';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'number') return 'float64';
  return Array.isArray(value) ? '[]interface {}' : 'map[string]interface {}';
}
