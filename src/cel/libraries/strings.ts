/** cel-go's extension of strings, in the version that Kubernetes has. Costs are those that Kubernetes gives its functions. */
import {
  bulkCost,
  growthCost,
  MAX_TEXT_CHARACTERS,
  STRING_TRAVERSAL_FACTOR,
  traversalCost,
} from '../cost/constants.ts';
import { readsTarget, readsTargetOnly } from '../cost/estimates.ts';
import { addRanges, multiplyRanges, type Range, scaleRange } from '../cost/range.ts';
import type { CallEstimate, CallNode, Library, Overload } from '../library.ts';
import { DYN, INT, listType, STRING } from '../types/type.ts';
import { fail } from '../values/failure.ts';
import { costSizeOf, deepSizeOf, sizeOf } from '../values/size.ts';
import type { Value } from '../values/value.ts';
import { member, plain, readsFirst } from './declare.ts';
import { format } from './format.ts';
import { quoted } from './quote.ts';

const LIST = listType(STRING);
type Index = number | bigint;

/** A function that reads its target once. */
const READS: Pick<Overload, 'costBefore' | 'estimate'> = { costBefore: readsFirst, estimate: readsTarget(1) };
/** A function that reads its target and builds another text of it. */
const REBUILDS: Pick<Overload, 'costBefore'> = {
  costBefore: ([text, part]) =>
    Math.ceil(costSizeOf(text!) * 2 * STRING_TRAVERSAL_FACTOR) + searchCost(text as string, part as string),
};
const SEARCHES: Pick<Overload, 'costBefore' | 'estimate'> = {
  costBefore: ([text, part]) =>
    Math.floor(Buffer.byteLength(text as string) * STRING_TRAVERSAL_FACTOR) +
    searchCost(text as string, part as string),
  estimate: readsTargetOnly,
};
const REPLACES: Pick<Overload, 'costBefore' | 'cost' | 'estimate'> = {
  ...REBUILDS,
  cost: ([text], result) => growthCost((text as string).length, (result as string).length),
  estimate: estimateReplace,
};
const SPLITS = { ...REBUILDS, estimate: estimateSplit };
const JOINS: Pick<Overload, 'costBefore' | 'estimate'> = {
  costBefore: ([list, by]) => {
    const items = list as readonly Value[];
    if (joinedLength(items, (by as string | undefined) ?? '') > MAX_TEXT_CHARACTERS) return Number.POSITIVE_INFINITY;
    const separators = by === undefined ? 0 : costSizeOf(by) * Math.max(items.length - 1, 0);
    const size = items.reduce((sum: number, item) => sum + costSizeOf(item), separators);
    return Math.ceil(size * 2 * STRING_TRAVERSAL_FACTOR) + bulkCost(items.length);
  },
  estimate: estimateJoin,
};

export const STRING_LIBRARY: Library = {
  name: 'strings',
  functions: [
    { name: 'charAt', overloads: [member('string_char_at_int', [STRING, INT], STRING, charAt, { cost: atIndex })] },
    {
      name: 'indexOf',
      overloads: [
        member(
          'string_index_of_string',
          [STRING, STRING],
          INT,
          (text: string, part: string) => indexOf(text, part, 0),
          SEARCHES,
        ),
        member('string_index_of_string_int', [STRING, STRING, INT], INT, indexOf, SEARCHES),
      ],
    },
    {
      name: 'lastIndexOf',
      overloads: [
        member('string_last_index_of_string', [STRING, STRING], INT, lastIndexOf, SEARCHES),
        member('string_last_index_of_string_int', [STRING, STRING, INT], INT, lastIndexOf, SEARCHES),
      ],
    },
    { name: 'lowerAscii', overloads: [member('string_lower_ascii', [STRING], STRING, lowerAscii, READS)] },
    { name: 'upperAscii', overloads: [member('string_upper_ascii', [STRING], STRING, upperAscii, READS)] },
    { name: 'trim', overloads: [member('string_trim', [STRING], STRING, trim, READS)] },
    {
      name: 'substring',
      overloads: [
        member('string_substring_int', [STRING, INT], STRING, substring, READS),
        member('string_substring_int_int', [STRING, INT, INT], STRING, substring, READS),
      ],
    },
    {
      name: 'replace',
      overloads: [
        member('string_replace_string_string', [STRING, STRING, STRING], STRING, replace, REPLACES),
        member('string_replace_string_string_int', [STRING, STRING, STRING, INT], STRING, replace, REPLACES),
      ],
    },
    {
      name: 'split',
      overloads: [
        member(
          'string_split_string',
          [STRING, STRING],
          LIST,
          (text: string, by: string) => split(text, by, -1),
          SPLITS,
        ),
        member('string_split_string_int', [STRING, STRING, INT], LIST, split, SPLITS),
      ],
    },
    {
      name: 'join',
      overloads: [
        member('list_join', [LIST], STRING, (list: Value[]) => join(list, ''), JOINS),
        member('list_join_string', [LIST, STRING], STRING, join, JOINS),
      ],
    },
    {
      name: 'format',
      overloads: [
        member('string_format', [STRING, listType(DYN)], STRING, format, {
          // The arguments may be much longer than the format, which is all that cel-go counts.
          costBefore: ([text, args]) => {
            const { values, characters } = deepSizeOf(args!);
            return readsFirst([text!]) + traversalCost(Math.max(0, values + characters - 1_000));
          },
          estimate: readsTargetOnly,
        }),
      ],
    },
    {
      name: 'strings.quote',
      overloads: [
        plain('strings_quote', [STRING], STRING, quoted, {
          costBefore: readsFirst,
          estimate: (call) => {
            const { min, max } = call.sizeOf(call.args[0]!);
            return { cost: readsTargetOnly(call)!.cost, size: { min: min + 2, max: max * 2 + 2 } };
          },
        }),
      ],
    },
  ],
};

/** A search for a long part may compare all of it at each character of the text. */
function searchCost(text: string, part: string): number {
  return bulkCost(text.length * part.length);
}

/** cel-go counts one unit for reading a character, but it has to be found first. */
function atIndex([text]: readonly Value[]): number {
  return 1 + Math.floor((text as string).length / 1_000);
}

function outOfRange(index: Index): never {
  return fail(`index out of range: ${index}`);
}

/** Reports whether each character is one UTF-16 unit, so that indexes need no conversion. */
function isSimple(text: string): boolean {
  return !/[\ud800-\udfff]/.test(text);
}

function charAt(text: string, index: Index): string {
  const characters = isSimple(text) ? text : Array.from(text);
  const at = Number(index);
  if (at < 0 || at > characters.length) return outOfRange(index);
  return characters[at] ?? '';
}

/** The character index of a UTF-16 offset. */
function characterIndex(text: string, offset: number): number {
  return offset <= 0 ? offset : sizeOf(text.slice(0, offset))!;
}

/** The UTF-16 offset of a character index, which is within the text. */
function offsetOf(text: string, index: number): number {
  if (isSimple(text)) return index;
  let offset = 0;
  for (let i = 0; i < index; i++) offset += text.codePointAt(offset)! > 0xffff ? 2 : 1;
  return offset;
}

function indexOf(text: string, part: string, from: Index): Value {
  if (part === '') return from;
  const at = Number(from);
  if (at < 0) return outOfRange(from);
  if (at >= sizeOf(text)!) return -1;
  return characterIndex(text, text.indexOf(part, offsetOf(text, at)));
}

function lastIndexOf(text: string, part: string, from?: Index): Value {
  const size = sizeOf(text)!;
  if (part === '') return from ?? size;
  if (from === undefined) return characterIndex(text, text.lastIndexOf(part));
  const at = Number(from);
  if (at < 0) return outOfRange(from);
  if (at >= size) return -1;
  return characterIndex(text, text.lastIndexOf(part, offsetOf(text, at)));
}

function lowerAscii(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function upperAscii(text: string): string {
  return text.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}

/** Go's white space, which has U+0085 and has not U+FEFF. */
function trim(text: string): string {
  return text.replace(/^[\p{White_Space}]+/u, '').replace(/(?<![\p{White_Space}])[\p{White_Space}]+$/u, '');
}

function substring(text: string, start: Index, end?: Index): string {
  const size = sizeOf(text)!;
  if (end !== undefined && start > end) return fail(`invalid substring range. start: ${start}, end: ${end}`);
  if (start < 0 || start > size) return outOfRange(start);
  if (end !== undefined && (end < 0 || end > size)) return outOfRange(end);
  const from = offsetOf(text, Number(start));
  return text.slice(from, end === undefined ? undefined : offsetOf(text, Number(end)));
}

/** Results that no budget could pay for are rejected before they are made. */
function checkLength(characters: number): void {
  if (characters > MAX_TEXT_CHARACTERS) fail(`string exceeds ${MAX_TEXT_CHARACTERS} characters`);
}

function replace(text: string, old: string, by: string, limit: Index = -1): string {
  if (limit === 0) return text;
  const parts = old === '' ? ['', ...Array.from(text), ''] : text.split(old);
  const count = limit < 0 ? parts.length - 1 : Math.min(Number(limit), parts.length - 1);
  checkLength(text.length + count * by.length);
  const replaced = parts.slice(0, count + 1).join(by);
  return [replaced, ...parts.slice(count + 1)].join(old);
}

function split(text: string, by: string, limit: Index): string[] {
  if (limit === 0) return [];
  const parts = by === '' ? Array.from(text) : text.split(by);
  const most = Number(limit);
  if (most < 0 || parts.length <= most) return parts;
  return [...parts.slice(0, most - 1), parts.slice(most - 1).join(by)];
}

/** Found without reading the texts: a list may hold a long one many times. */
function joinedLength(list: readonly Value[], by: string): number {
  return list.reduce<number>(
    (sum, item) => sum + (typeof item === 'string' ? item.length : 0),
    by.length * list.length,
  );
}

function join(list: readonly Value[], by: string): string {
  if (list.some((item) => typeof item !== 'string')) return fail('join: invalid input: element is not a string');
  return list.join(by);
}

function estimateReplace(call: CallNode): CallEstimate | undefined {
  const { target, args } = call;
  if (target === undefined || args.length < 2) return undefined;
  const text = call.sizeOf(target);
  const old = call.sizeOf(args[0]!);
  const by = call.sizeOf(args[1]!);
  const longest = replacedSize(text.max, old.min, by.max <= old.min);
  const shortest = replacedSize(text.min, old.max, old.max <= by.min);
  const count: Range = { min: shortest.count, max: longest.count };
  const kept: Range = { min: shortest.kept, max: longest.kept };
  return {
    cost: scaleRange(text, 2 * STRING_TRAVERSAL_FACTOR),
    size: addRanges(multiplyRanges(count, by), kept),
  };
}

/** Returns the number of replacements that a text can have, and how much of it is kept, at one end of the range. */
function replacedSize(text: number, old: number, isNone: boolean): { count: number; kept: number } {
  if (old === 0) return { count: text + 1, kept: text };
  return isNone ? { count: 0, kept: text } : { count: Math.ceil(text / old), kept: 0 };
}

function estimateSplit(call: CallNode): CallEstimate | undefined {
  if (call.target === undefined) return undefined;
  const size = call.sizeOf(call.target);
  const limit = call.args[1]?.literal;
  const max = typeof limit === 'number' && limit >= 0 ? limit : size.max;
  return { cost: scaleRange(size, 2 * STRING_TRAVERSAL_FACTOR), size: { min: 0, max } };
}

function estimateJoin(call: CallNode): CallEstimate | undefined {
  if (call.target === undefined) return undefined;
  const list = call.sizeOf(call.target);
  const element = call.elementOf(call.target);
  let size: Range = element === undefined ? { min: 0, max: 0 } : multiplyRanges(list, call.sizeOf(element));
  if (call.args.length > 0) {
    const separators = { min: Math.max(list.min - 1, 0), max: Math.max(list.max - 1, 0) };
    size = addRanges(size, multiplyRanges(call.sizeOf(call.args[0]!), separators));
  }
  return { cost: scaleRange(size, STRING_TRAVERSAL_FACTOR), size };
}
