/** The part of JSONPath that definitions use for columns and field selectors: fields, indexes, `*` and simple filters. */
import { deepEqual, isTree } from '../../base/json/tree.ts';

type Step =
  | { readonly type: 'field'; readonly name: string }
  | { readonly type: 'index'; readonly index: number }
  | { readonly type: 'all' }
  | { readonly type: 'descend' }
  | { readonly type: 'filter'; readonly path: readonly Step[]; readonly operator: string; readonly value: unknown };

/** A compiled path: the values that it finds in an object, in order. */
export type JsonPath = (object: unknown) => readonly unknown[];

/** Longer paths find nothing. */
const MAX_STEPS = 64;
/** More values than these are not looked for. */
const MAX_VALUES = 10_000;

/** Compiles a path such as `.status.conditions[?(@.type=="Ready")].status`; undefined where it is none. */
export function jsonPath(text: string): JsonPath | undefined {
  const steps = parse(text);
  if (!steps || steps.length > MAX_STEPS) return undefined;
  return (object) => find(steps, object);
}

function find(steps: readonly Step[], object: unknown): readonly unknown[] {
  let values: unknown[] = [object];
  for (const step of steps) {
    const next: unknown[] = [];
    for (const value of values) {
      if (next.length > MAX_VALUES) break;
      take(step, value, next);
    }
    values = next;
  }
  return values;
}

function take(step: Step, value: unknown, out: unknown[]): void {
  if (typeof value !== 'object' || value === null) return;
  switch (step.type) {
    case 'field':
      if (Object.hasOwn(value, step.name)) out.push((value as Record<string, unknown>)[step.name]);
      return;
    case 'index': {
      if (!Array.isArray(value)) return;
      const at = step.index < 0 ? value.length + step.index : step.index;
      if (at >= 0 && at < value.length) out.push(value[at]);
      return;
    }
    case 'all':
      for (const each of Object.values(value)) out.push(each);
      return;
    case 'descend':
      descend(value, out);
      return;
    case 'filter':
      if (!Array.isArray(value) && !isTree(value)) return;
      for (const each of Object.values(value)) if (passes(step, each)) out.push(each);
  }
}

function descend(value: object, out: unknown[]): void {
  out.push(value);
  for (const each of Object.values(value)) {
    if (out.length > MAX_VALUES) return;
    if (typeof each === 'object' && each !== null) descend(each, out);
  }
}

function passes({ path, operator, value }: Extract<Step, { type: 'filter' }>, item: unknown): boolean {
  const [left] = find(path, item);
  if (operator === '') return left !== undefined;
  if (left === undefined) return false;
  switch (operator) {
    case '==':
      return deepEqual(left, value);
    case '!=':
      return !deepEqual(left, value);
    case '<':
      return (left as number) < (value as number);
    case '<=':
      return (left as number) <= (value as number);
    case '>':
      return (left as number) > (value as number);
    default:
      return (left as number) >= (value as number);
  }
}

/** How each step is written. No alternative of an expression begins like another, so that none backtracks. */
const FORMS: readonly (readonly [form: RegExp, step: (found: RegExpExecArray) => Step | undefined])[] = [
  [/\.\.(?=[^.])/y, () => ({ type: 'descend' })],
  [/\[\s*\*\s*\]|\.\*/y, () => ({ type: 'all' })],
  [/\[\s*(-?\d+)\s*\]/y, ([, index]) => ({ type: 'index', index: Number(index) })],
  [
    /\[\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*\]/y,
    ([, single, double]) => ({ type: 'field', name: unescaped(single ?? double ?? '') }),
  ],
  [
    /\[\?\(\s*@([^\s=!<>)[]*(?:\[[^\]]*\][^\s=!<>)[]*)*)\s*(?:(==|!=|<=|>=|<|>)\s*([^)]*))?\)\]/y,
    ([, path = '', operator = '', value = '']) => filterOf(path, operator, value.trim()),
  ],
  [/\.?((?:[A-Za-z0-9_$\-/]|\\.)+)/y, ([, name = '']) => ({ type: 'field', name: unescaped(name) })],
];

function parse(text: string): readonly Step[] | undefined {
  const steps: Step[] = [];
  let at = text.startsWith('$') ? 1 : 0;
  const end = text.endsWith('.') ? text.length - 1 : text.length;
  while (at < end) {
    const step = stepAt(text, at);
    if (!step) return undefined;
    steps.push(step.step);
    at += step.length;
  }
  return steps;
}

function stepAt(text: string, at: number): { readonly step: Step; readonly length: number } | undefined {
  for (const [form, make] of FORMS) {
    form.lastIndex = at;
    const found = form.exec(text);
    if (!found) continue;
    const step = make(found);
    return step && { step, length: found[0].length };
  }
  return undefined;
}

function filterOf(pathText: string, operator: string, text: string): Step | undefined {
  const path = parse(pathText);
  const value = literal(text);
  return path && value !== undefined ? { type: 'filter', path, operator, value } : undefined;
}

const unescaped = (text: string) => text.replace(/\\(.)/g, '$1');

function literal(text: string): unknown {
  if (text === '') return null;
  const quoted = /^(?:'(.*)'|"(.*)")$/s.exec(text);
  if (quoted) return unescaped(quoted[1] ?? quoted[2] ?? '');
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
}
