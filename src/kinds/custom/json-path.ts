/** The part of JSONPath that definitions use for columns and field selectors: fields, indexes, `*` and simple filters. */
import { deepEqual } from '../../base/json/tree.ts';

type Step =
  | { readonly type: 'field'; readonly name: string }
  | { readonly type: 'index'; readonly index: number }
  | { readonly type: 'all' }
  | { readonly type: 'descend' }
  | { readonly type: 'filter'; readonly path: readonly Step[]; readonly operator: string; readonly value: unknown };

/** A compiled path: the values that it finds in an object, in order. */
export type JsonPath = (object: unknown) => readonly unknown[];

/** Maximum number of steps; longer paths find nothing. */
const MAX_STEPS = 64;
/** Maximum number of values that are looked at. */
const MAX_LOOKS = 50_000;

/** Number of values that may still be looked at. */
interface Looks {
  left: number;
}

/** Compiles a path such as `.status.conditions[?(@.type=="Ready")].status`; undefined for an invalid one. */
export function jsonPath(text: string, maxLooks = MAX_LOOKS): JsonPath | undefined {
  const steps = parse(text);
  if (!steps || steps.length > MAX_STEPS) return undefined;
  return (object) => find(steps, object, { left: maxLooks });
}

function find(steps: readonly Step[], object: unknown, looks: Looks): readonly unknown[] {
  const found: unknown[] = [];
  follow({ steps, found, looks }, 0, object);
  return found;
}

interface Search {
  readonly steps: readonly Step[];
  readonly found: unknown[];
  readonly looks: Looks;
}

/** Follows one value to the end of the path before it looks at the next, so that something is found before the looks are used up. */
function follow(search: Search, at: number, value: unknown): void {
  const { steps, found, looks } = search;
  const step = steps[at];
  if (!step) {
    found.push(value);
    return;
  }
  if (looks.left-- <= 0 || typeof value !== 'object' || value === null) return;
  const next = at + 1;
  switch (step.type) {
    case 'field':
      if (Object.hasOwn(value, step.name)) follow(search, next, (value as Record<string, unknown>)[step.name]);
      return;
    case 'index': {
      if (!Array.isArray(value)) return;
      const index = step.index < 0 ? value.length + step.index : step.index;
      if (index >= 0 && index < value.length) follow(search, next, value[index]);
      return;
    }
    case 'all':
      for (const each of itemsOf(value, looks)) follow(search, next, each);
      return;
    case 'descend':
      descend(search, next, value);
      return;
    case 'filter':
      for (const each of itemsOf(value, looks)) if (passes(step, each, looks)) follow(search, next, each);
  }
}

function descend(search: Search, next: number, value: object): void {
  follow(search, next, value);
  for (const each of itemsOf(value, search.looks)) {
    if (typeof each === 'object' && each !== null) descend(search, next, each);
  }
}

/** The values of a list or an object, as far as they may be looked at: they are not collected before. */
function* itemsOf(value: object, looks: Looks): Generator<unknown> {
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && looks.left-- > 0; i++) yield value[i];
    return;
  }
  for (const key in value) {
    if (looks.left-- <= 0) return;
    yield (value as Record<string, unknown>)[key];
  }
}

function passes({ path, operator, value }: Extract<Step, { type: 'filter' }>, item: unknown, looks: Looks): boolean {
  const [left] = find(path, item, looks);
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

/** Syntax of each step. No two alternatives of an expression have a common beginning, so that none backtracks. */
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
