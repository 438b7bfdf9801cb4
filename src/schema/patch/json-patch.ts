/**
 * JSON patches (RFC 6902) as Kubernetes applies them: an index may count from the end of a list, `replace` of a missing
 * key adds it, and `test` for null passes if there is no value. The error messages are those of its patch library.
 */
import type { DividedWork, Pace } from '../../base/event-loop/in-turns.ts';
import { isTree, type Tree } from '../../base/json/tree.ts';
import { jsonWord } from '../decode/decode-error.ts';
import { Document, fails } from '../json-document.ts';
import { checkDepth, PatchError, PatchTestError } from './patch-error.ts';
import type { PatchWork } from './patch-work.ts';

const MAX_OPERATIONS = 10_000;

/** Listing a key of an object takes as long as shifting this many items of a list. */
const WORK_PER_KEY = 20;

/** Number of operations performed between two checks of the pace. */
const OPERATIONS_PER_LOOK = 16;

const NEVER_SPENT: Pace = { isSpent: () => false };

/**
 * Applies a patch. Neither argument is changed, and the result shares the parts that the patch does not touch. Throws a
 * PatchError.
 */
export function applyJsonPatch(current: unknown, patch: unknown): unknown {
  return jsonPatchInTurns(current, patch, NEVER_SPENT).next().value;
}

/** Works like `applyJsonPatch`, and yields when the pace is spent. */
export function* jsonPatchInTurns(current: unknown, patch: unknown, pace: Pace): DividedWork<unknown> {
  const operations = operationsOf(patch);
  const document = new Document(current);
  for (let i = 0; i < operations.length; i++) {
    if (i % OPERATIONS_PER_LOOK === 1 && pace.isSpent()) yield;
    const operation = operations[i]!;
    const perform = performers.get(operation.op ?? 'unknown');
    if (!perform) throw fails(`Unexpected kind: ${operation.op ?? 'unknown'}`);
    perform(document, operation);
  }
  yield* document.finish(pace);
  return document.root;
}

interface Operation {
  readonly op?: string;
  readonly path?: string;
  readonly from?: string;
  readonly value?: unknown;
}

function operationsOf(patch: unknown): Operation[] {
  if (!Array.isArray(patch)) throw undecodable(patch, 'Go value of type []handlers.jsonPatchOp');
  for (const operation of patch) {
    if (operation === null) continue;
    if (!isTree(operation)) throw undecodable(operation, 'Go value of type handlers.jsonPatchOp');
    for (const field of ['op', 'path', 'from']) {
      const value = Object.hasOwn(operation, field) ? operation[field] : null;
      if (value === null || typeof value === 'string') continue;
      throw undecodable(value, `Go struct field jsonPatchOp.${field} of type string`);
    }
  }
  if (patch.length > MAX_OPERATIONS) {
    const message = `The allowed maximum operations in a JSON patch is ${MAX_OPERATIONS}, got ${patch.length}`;
    throw new PatchError('RequestEntityTooLarge', `Request entity too large: ${message}`);
  }
  return patch.map((operation) => operation ?? {});
}

function undecodable(value: unknown, into: string): PatchError {
  return new PatchError('BadRequest', `error decoding patch: json: cannot unmarshal ${jsonWord(value)} into ${into}`);
}

function add(document: Document, { path, value = null }: Operation): void {
  if (typeof path !== 'string') throw fails('add operation failed to decode path: missing value');
  const location = document.find(path);
  if (!location) throw fails(`add operation does not apply: doc is missing path: "${path}": missing value`);
  within(`error in add for path: '${path}'`, () => location.add(value));
}

function remove(document: Document, { path }: Operation): void {
  if (typeof path !== 'string') throw fails('remove operation failed to decode path: missing value');
  const location = document.find(path);
  if (!location) throw fails(`remove operation does not apply: doc is missing path: "${path}": missing value`);
  within(`error in remove for path: '${path}'`, () => location.remove());
}

function replace(document: Document, { path, value = null }: Operation): void {
  if (typeof path !== 'string') throw fails('replace operation failed to decode path: missing value');
  if (path === '') {
    if (typeof value !== 'object' || value === null) throw fails('replace operation value must be object or array');
    document.root = value;
    return;
  }
  const location = document.find(path);
  if (!location) throw fails(`replace operation does not apply: doc is missing path: ${path}: missing value`);
  if (!location.isReachable)
    throw fails(`replace operation does not apply: doc is missing key: ${path}: missing value`);
  location.set(value);
}

function move(document: Document, { from, path }: Operation): void {
  if (typeof from !== 'string') throw fails('move operation failed to decode from: missing value');
  const source = document.find(from);
  if (!source) throw fails(`move operation does not apply: doc is missing from path: ${from}: missing value`);
  const value = within(`error in move for path: '${source.key}'`, () => {
    const found = source.get();
    source.remove();
    return found;
  });
  if (typeof path !== 'string') throw fails('move operation failed to decode path: missing value');
  const target = document.find(path);
  if (!target) throw fails(`move operation does not apply: doc is missing destination path: ${path}: missing value`);
  within(`error in move for path: '${path}'`, () => target.add(value));
}

function test(document: Document, { path, value = null }: Operation): void {
  if (typeof path !== 'string') throw fails('test operation failed to decode path: missing value');
  if (path === '') {
    if (!equal(document.work, document.root, value)) throw new PatchTestError(path);
    return;
  }
  const location = document.find(path);
  if (!location) throw fails(`test operation does not apply: is missing path: ${path}: missing value`);
  const found = within(`error in test for path: '${path}'`, () => location.get());
  if (!equal(document.work, found ?? null, value)) throw new PatchTestError(path);
}

function copy(document: Document, { from, path }: Operation): void {
  if (typeof from !== 'string') throw fails('copy operation failed to decode from: missing value');
  const source = document.find(from);
  if (!source) throw fails(`copy operation does not apply: doc is missing from path: ${from}: missing value`);
  const value = within(`error in copy for from: '${from}'`, () => source.get());
  if (typeof path !== 'string') throw fails('copy operation failed to decode path: missing value');
  const target = document.find(path);
  if (!target) throw fails(`copy operation does not apply: doc is missing destination path: ${path}: missing value`);
  const duplicate = document.duplicate(value ?? null);
  within('error while adding value during copy', () => target.add(duplicate));
}

const performers = new Map<string, (document: Document, operation: Operation) => void>([
  ['add', add],
  ['remove', remove],
  ['replace', replace],
  ['move', move],
  ['test', test],
  ['copy', copy],
]);

/** Puts the operation in front of the message of its error. */
function within<T>(head: string, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof PatchError) || error.reason !== 'Invalid') throw error;
    throw fails(`${head}: ${error.message}`);
  }
}

function equal(work: PatchWork, a: unknown, b: unknown, depth = 0): boolean {
  checkDepth(depth);
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => equal(work, item, b[index], depth + 1));
  }
  const left = a as Tree;
  const right = b as Tree;
  const keys = Object.keys(left);
  work.spend(keys.length * WORK_PER_KEY);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && equal(work, left[key], right[key], depth + 1));
}
