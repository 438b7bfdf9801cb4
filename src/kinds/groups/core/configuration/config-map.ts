import { deepEqual } from '../../../../base/json/tree.ts';
import { s } from '../../../../schema/builders.ts';
import { type FieldError, forbidden, invalid, tooLong } from '../../../../schema/field-error.ts';
import { configMapKey } from '../../../../schema/names.ts';
import { keys, matches } from '../../../../schema/rules.ts';
import type { ObjectType, RuleContext } from '../../../../schema/schema.ts';
import { age, name } from '../../../columns/column.ts';
import { defineKind, type KubeObject } from '../../../kind.ts';

/** Maximum total size of the values of a ConfigMap or Secret. */
export const MAX_DATA_BYTES = 1024 * 1024;
export const MAX_DATA_KEYS = 50_000;

/** Fields that ConfigMaps and Secrets can make immutable. */
interface Guarded {
  readonly immutable?: boolean;
  readonly data?: Readonly<Record<string, string>>;
  readonly binaryData?: Readonly<Record<string, string>>;
}

/** Checks that neither `immutable` nor the guarded fields change once it is set. */
export const frozenOnceImmutable =
  (...guarded: readonly (keyof Guarded)[]) =>
  (object: Guarded, { oldRoot: old }: RuleContext<Guarded, Guarded>): FieldError[] => {
    if (!old?.immutable) return [];
    const changed: string[] = guarded.filter((field) => !deepEqual(object[field], old[field]));
    if (!object.immutable) changed.unshift('immutable');
    return changed.map((field) => forbidden(field, 'field is immutable when `immutable` is set'));
  };

const fields = {
  data: s.map(
    s.string(),
    "Text values by key. Keys consist of letters, digits, '-', '_' and '.'. All values together may have 1 MiB.",
    { maxItems: MAX_DATA_KEYS, rules: [keys(matches(configMapKey))] },
  ),
  binaryData: s.map(
    s.bytes(),
    'Binary values by key, encoded in base64. A key may be in data or in binaryData, not in both.',
    { maxItems: MAX_DATA_KEYS, rules: [keys(matches(configMapKey))] },
  ),
  immutable: s.boolean(
    'If true, the data can no longer be changed and the field cannot be reset; the object can only be ' +
      'deleted. Defaults to false.',
  ),
};

export type ConfigMap = KubeObject & ObjectType<typeof fields>;

/** Configuration for programs, separate from their images. */
export const ConfigMap = defineKind({
  kind: 'ConfigMap',
  short: ['cm'],
  scope: 'Namespaced',
  description:
    'Configuration that pods use as files, environment variables or arguments. Running pods do not see ' + 'changes.',
  versions: { v1: {} },
  fields,
  rules: [frozenOnceImmutable('data', 'binaryData'), keysInBoth, size],
  columns: ({ text }) => [
    name,
    text('Data', 'Number of keys in data and binaryData.', ({ data = {}, binaryData = {} }) => {
      return Object.keys(data).length + Object.keys(binaryData).length;
    }),
    age,
  ],
});

function keysInBoth({ data = {}, binaryData = {} }: ConfigMap): FieldError[] {
  return Object.keys(data)
    .filter((key) => Object.hasOwn(binaryData, key))
    .map((key) => invalid(`data[${key}]`, key, 'duplicate of key present in binaryData'));
}

function size({ data = {}, binaryData = {} }: ConfigMap): FieldError[] {
  const texts = Object.values(data).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  return texts + decodedSize(binaryData) > MAX_DATA_BYTES ? [tooLong('', MAX_DATA_BYTES)] : [];
}

/** The number of bytes that base64 texts decode to. */
export function decodedSize(data: Readonly<Record<string, string>>): number {
  return Object.values(data).reduce((sum, text) => sum + Buffer.byteLength(text, 'base64'), 0);
}
