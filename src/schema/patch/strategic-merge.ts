/**
 * Strategic merge patches: merge patches that follow the schema of a kind. Lists whose schema has a merge key are merged
 * item by item, and directives in the patch control it: `$patch` (replace or delete), `$retainKeys`,
 * `$setElementOrder/<list>` and `$deleteFromPrimitiveList/<list>`.
 */
import { isTree, put, type Tree } from '../../base/json/tree.ts';
import { jsonWord } from '../decode/decode-error.ts';
import { goText, goTypeOf } from '../go-text.ts';
import type { ListSchema, ObjectSchema, Schema } from '../schema.ts';
import {
  badPatch,
  DELETE,
  ORDER,
  PATCH,
  RETAIN_KEYS,
  unknownDirective,
  withoutDirectives,
} from './merge-directives.ts';
import { mergeLists, orderList } from './merge-lists.ts';
import { checkDepth } from './patch-error.ts';
import { PatchWork } from './patch-work.ts';

/**
 * Limit for the keys and list items that merging copies; to merge or to order an item takes as long as four keys. Merging
 * copies each part once, except where several items of a list in the patch have the same merge key.
 */
const MAX_WORK = 400_000;
const WORK_PER_ITEM = 4;

/**
 * Applies a patch. Neither argument is changed, and the result shares the parts that the patch does not touch. Throws a
 * PatchError.
 */
export function applyStrategicMergePatch(schema: ObjectSchema, current: unknown, patch: unknown): unknown {
  if (patch === null) return current;
  if (!isTree(patch)) {
    throw badPatch(`json: cannot unmarshal ${jsonWord(patch)} into Go value of type map[string]interface {}`);
  }
  const work = new PatchWork(MAX_WORK, 'The patch merges too many items with the same merge key');
  return mergeTrees(schema, isTree(current) ? current : {}, patch, { depth: 0, work });
}

/** Depth of a merge in the patch, and the rest of its work. */
interface Progress {
  readonly depth: number;
  readonly work: PatchWork;
}

const deeper = ({ depth, work }: Progress): Progress => ({ depth: depth + 1, work });

function mergeTrees(schema: Schema | undefined, current: Tree, patch: Tree, progress: Progress): Tree {
  checkDepth(progress.depth);
  if (Object.hasOwn(patch, PATCH)) return replaced(patch);
  const out = retained(current, patch);
  progress.work.spend(Object.keys(out).length + 1);
  const ordered = new Set<string>();
  for (const key in patch) {
    if (!key.startsWith(ORDER)) continue;
    const field = fieldOf(key, ORDER, 'invalid patch format of setElementOrder list');
    mergeOrdered(listSchema(schema, field), field, { out, patch, progress });
    ordered.add(field);
  }
  for (const key in patch) {
    if (key === RETAIN_KEYS || key.startsWith(ORDER) || ordered.has(key)) continue;
    const deletes = key.startsWith(DELETE);
    const field = deletes ? fieldOf(key, DELETE, 'invalid patch format of primitive list') : key;
    mergeField(out, field, patch[key], { schema: childSchema(schema, field), deletes, progress });
  }
  return out;
}

/** The result of a `$patch` directive in an object. */
function replaced(patch: Tree): Tree {
  const directive = patch[PATCH];
  if (directive === 'delete') return {};
  if (directive !== 'replace') throw unknownDirective(directive, patch);
  const { [PATCH]: _, ...rest } = patch;
  return rest;
}

/** A copy of the object, with only the keys that `$retainKeys` names. */
function retained(current: Tree, patch: Tree): Tree {
  const out: Tree = {};
  if (!Object.hasOwn(patch, RETAIN_KEYS)) {
    // Not a spread: it is added to (see `extended`).
    for (const key in current) put(out, key, current[key]);
    return out;
  }
  const list = patch[RETAIN_KEYS];
  if (!Array.isArray(list)) throw badPatch('invalid patch format of retainKeys');
  const names = new Set(list);
  for (const key in patch) {
    if (key === RETAIN_KEYS || patch[key] === null || key.startsWith(DELETE) || key.startsWith(ORDER)) continue;
    if (!names.has(key)) throw badPatch('invalid patch format of retainKeys');
  }
  for (const key in current) if (names.has(key)) put(out, key, current[key]);
  return out;
}

function fieldOf(key: string, prefix: string, complaint: string): string {
  const slash = key.indexOf('/');
  if (slash !== prefix.length) throw badPatch(complaint);
  return key.slice(slash + 1);
}

interface FieldPatch {
  readonly schema: Schema | undefined;
  /** The values are to be deleted from the list. */
  readonly deletes: boolean;
  readonly progress: Progress;
}

function mergeField(out: Tree, field: string, value: unknown, { schema, deletes, progress }: FieldPatch): void {
  if (value === null) {
    delete out[field];
    return;
  }
  const old = Object.hasOwn(out, field) ? out[field] : undefined;
  if (isTree(old) && isTree(value)) {
    const replaces = schema?.type === 'object' && schema.replace;
    put(out, field, replaces ? value : mergeTrees(schema, old, value, deeper(progress)));
  } else if (Array.isArray(old) && Array.isArray(value)) {
    const list = schema?.type === 'list' ? schema : undefined;
    put(out, field, list?.merge || deletes ? mergeItems(list, old, { value, deletes, progress }) : value);
  } else if (!deletes) {
    const plain = withoutDirectives(value, progress.depth + 1);
    if (plain === undefined) delete out[field];
    else put(out, field, plain);
  }
}

function mergeItems(
  schema: ListSchema | undefined,
  old: readonly unknown[],
  { value, deletes, progress }: { value: readonly unknown[]; deletes: boolean; progress: Progress },
): unknown[] {
  progress.work.spend((old.length + value.length) * WORK_PER_ITEM);
  return mergeLists(old, value, {
    key: typeof schema?.merge === 'string' ? schema.merge : undefined,
    deletes,
    mergeItem: (before, patch) => mergeTrees(schema && resolved(schema.items), before, patch, deeper(progress)),
  });
}

/** `$setElementOrder/<list>`: merges the list as usual, then puts its items into the given order. */
function mergeOrdered(
  schema: ListSchema | undefined,
  field: string,
  { out, patch, progress }: { out: Tree; patch: Tree; progress: Progress },
): void {
  const order = listOf(patch[`${ORDER}/${field}`]);
  const old = Object.hasOwn(out, field) ? listOf(out[field]) : undefined;
  const value = Object.hasOwn(patch, field) ? listOf(patch[field]) : undefined;
  const key = typeof schema?.merge === 'string' ? schema.merge : undefined;
  if (!old && !value) return;
  let merged: readonly unknown[];
  if (!value) merged = old!;
  else if (!old) merged = withoutDirectives(value, progress.depth + 1) as unknown[];
  else merged = schema?.merge ? mergeItems(schema, old, { value, deletes: false, progress }) : value;
  progress.work.spend((merged.length + order.length) * WORK_PER_ITEM);
  put(out, field, orderList(merged, { order, old: old ?? [], patch: value ?? [], key }));
}

function listOf(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw badPatch(`expected a []interface {}, but received a ${goTypeOf(value)}`);
  return value;
}

function resolved(schema: Schema): Schema {
  return schema.type === 'lazy' ? resolved(schema.resolve()) : schema;
}

/** The schema of the value under a key; undefined for free-form data. */
function childSchema(schema: Schema | undefined, key: string): Schema | undefined {
  if (schema?.type === 'map') return resolved(schema.values);
  if (schema?.type !== 'object' || !Object.hasOwn(schema.fields, key)) return undefined;
  return resolved(schema.fields[key]!);
}

function listSchema(schema: Schema | undefined, field: string): ListSchema | undefined {
  const child = childSchema(schema, field);
  if (child?.type === 'list') return child;
  throw badPatch(`unable to find api field ${goText(field)}`);
}
