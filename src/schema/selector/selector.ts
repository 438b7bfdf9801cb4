/**
 * Label and field selectors, compiled to functions. Parsed selectors are cached by their text, because clients use the
 * same few selectors again and again.
 */
import { memoized } from '../../base/collections/bounded-map.ts';
import { checkCount, checkLength, type Operator, parseRequirements, type Requirement } from './selector-parser.ts';
import { requirementOf, SelectorError } from './selector-requirement.ts';

export { SelectorError } from './selector-requirement.ts';

type Labels = Readonly<Record<string, string>>;

export interface LabelSelector {
  matches(labels: Labels | undefined): boolean;
  /** Canonical form: sorted by key. */
  readonly text: string;
  /** Selects everything. */
  readonly empty: boolean;
  /** Label that all selected objects have, so that selectors can be indexed by it; undefined when it requires none. */
  readonly requiredLabel?: readonly [key: string, value: string];
}

/** Limit for the parsed selectors that are remembered, of each sort. */
const MAX_CACHED_BYTES = 1024 * 1024;
/** Estimates of the memory of a parsed selector. */
const COMPILED_BYTES_PER_CHARACTER = 60;
const REQUIREMENT_BYTES = 150;

/** Throws a SelectorError. */
export const parseLabelSelector = memoized((text: string) => compile(parseRequirements(text)), {
  maxBytes: MAX_CACHED_BYTES,
  bytesOf: ({ text }) => COMPILED_BYTES_PER_CHARACTER * text.length,
});

/** A selector as it occurs in objects; undefined selects nothing. Throws a SelectorError. */
export function fromLabelSelector(selector: LabelSelectorObject | undefined): LabelSelector {
  if (!selector) return NOTHING;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return compile([
    ...requirementsOf(matchLabels),
    ...matchExpressions.map(({ key, operator, values = [] }) => requirementOf(key, operatorOf(operator), values)),
  ]);
}

export interface LabelSelectorObject {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

/** The older form, a map of labels, as in Services and ReplicationControllers. */
export function fromLabels(labels: Labels): LabelSelector {
  return compile(requirementsOf(labels));
}

/** Returns either form as text, as in a Scale's `status.selector`. */
export function selectorText(selector: LabelSelectorObject | Labels | undefined): string {
  if (!selector) return '';
  const isObject = Object.values(selector).some((value) => typeof value === 'object');
  return isObject ? fromLabelSelector(selector as LabelSelectorObject).text : fromLabels(selector as Labels).text;
}

const NOTHING: LabelSelector = { matches: () => false, text: '', empty: false };

function requirementsOf(labels: Labels): Requirement[] {
  return Object.entries(labels).map(([key, value]) => ({ key, operator: '=', values: [value] }));
}

function operatorOf(word: string): Operator {
  switch (word) {
    case 'In':
      return 'in';
    case 'NotIn':
      return 'notin';
    case 'Exists':
      return 'exists';
    case 'DoesNotExist':
      return '!';
    default:
      throw new SelectorError(`${JSON.stringify(word)} is not a valid label selector operator`);
  }
}

function compile(requirements: Requirement[]): LabelSelector {
  const sorted = requirements.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  const [first, ...rest] = sorted.map(testOf);
  const text = sorted.map(textOf).join(',');
  const equality = sorted.find(({ operator }) => operator === '=' || operator === '==');
  const required = equality ? { requiredLabel: [equality.key, equality.values[0] ?? ''] as const } : {};
  if (!first) return { matches: () => true, text, empty: true };
  if (rest.length === 0) return { matches: (labels) => first(labels ?? NO_LABELS), text, empty: false, ...required };
  return {
    matches: (labels = NO_LABELS) => {
      if (!first(labels)) return false;
      for (let i = 0; i < rest.length; i++) if (!rest[i]!(labels)) return false;
      return true;
    },
    text,
    empty: false,
    ...required,
  };
}

const NO_LABELS: Labels = Object.freeze({});

type Test = (labels: Labels) => boolean;

function testOf({ key, operator, values }: Requirement): Test {
  const [value = ''] = values;
  switch (operator) {
    case '=':
    case '==':
      // Inherited properties are never strings, so no check for own properties is needed here.
      return (labels) => labels[key] === value;
    case '!=':
      return (labels) => labels[key] !== value;
    case 'in':
      return oneOf(key, values);
    case 'notin': {
      const isIn = oneOf(key, values);
      return (labels) => !isIn(labels);
    }
    case 'exists':
      return (labels) => Object.hasOwn(labels, key);
    case '!':
      return (labels) => !Object.hasOwn(labels, key);
    case '>':
      return compare(key, value, (label, limit) => label > limit);
    case '<':
      return compare(key, value, (label, limit) => label < limit);
  }
}

/** Number of values from which a lookup is faster than a comparison with each. */
const MIN_INDEXED_VALUES = 16;

function oneOf(key: string, values: readonly string[]): Test {
  if (values.length < MIN_INDEXED_VALUES) {
    return (labels) => Object.hasOwn(labels, key) && values.includes(labels[key]!);
  }
  const indexed = new Set(values);
  return (labels) => Object.hasOwn(labels, key) && indexed.has(labels[key]!);
}

function compare(key: string, value: string, holds: (label: bigint, limit: bigint) => boolean): Test {
  const limit = BigInt(value);
  return (labels) => {
    const label = Object.hasOwn(labels, key) ? labels[key]! : '';
    return /^-?\d+$/.test(label) && holds(BigInt(label), limit);
  };
}

function textOf({ key, operator, values }: Requirement): string {
  switch (operator) {
    case 'in':
    case 'notin':
      return `${key} ${operator} (${[...values].sort().join(',')})`;
    case 'exists':
      return key;
    case '!':
      return `!${key}`;
    default:
      return `${key}${operator}${values[0]}`;
  }
}

export interface FieldRequirement {
  readonly field: string;
  readonly op: '=' | '!=';
  readonly value: string;
}

/** `spec.nodeName=a,status.phase!=Running`. Throws a SelectorError. */
export const parseFieldSelector = memoized(
  (text: string): readonly FieldRequirement[] =>
    checkCount(splitTerms(checkLength(text)))
      .sort()
      .filter((term) => term !== '')
      .map((term) => {
        const match = /^(.*?)(!=|==|=)(.*)$/s.exec(term);
        if (!match) throw new SelectorError(`invalid selector: '${text}'; can't understand '${term}'`);
        return { field: match[1]!, op: match[2] === '!=' ? '!=' : '=', value: unescaped(match[3]!) };
      }),
  { maxBytes: MAX_CACHED_BYTES, bytesOf: (requirements) => requirements.length * REQUIREMENT_BYTES },
);

/** Splits at commas that are not escaped with a backslash. */
function splitTerms(text: string): string[] {
  return text.match(/(?:\\.|[^,\\]|\\$)+/gs) ?? [];
}

function unescaped(text: string): string {
  return text.replace(/\\(.?)|[,=]/gsu, (found, escaped: string | undefined) => {
    if (escaped === undefined) {
      const code = found.codePointAt(0);
      throw new SelectorError(`invalid field selector: unescaped character in value: ${code}`);
    }
    if (escaped === '\\' || escaped === ',' || escaped === '=') return escaped;
    throw new SelectorError(`invalid field selector: invalid escape sequence: ${found}`);
  });
}
