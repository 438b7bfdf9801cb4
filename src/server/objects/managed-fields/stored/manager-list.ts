/**
 * The managers of an object without the times of their changes. Objects that the same clients write in the same way
 * share a list, so it is packed for the store, and encoded for clients, once for all of them.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { BoundedMap } from '../../../../base/collections/bounded-map.ts';
import { DICTIONARY } from './dictionary.ts';
import { IDENTIFIER, type SetTemplate, templateOf } from './interned-sets.ts';
import type { EntryOptions } from './managed-entry.ts';

export interface ListedManager extends Omit<EntryOptions, 'time' | 'set'> {
  readonly template: SetTemplate;
}

export interface ManagerList {
  readonly managers: readonly ListedManager[];
  /** The JSON of each entry without its opening brace and its time, split at identifiers. */
  readonly served: readonly (readonly Buffer[])[];
  /** Length of the served form, without times and identifiers. */
  readonly length: number;
}

const MAX_LISTS_BYTES = 16 * 1024 * 1024;
/** Limit for the unpacked size of a list, above that of any object. */
const MAX_UNPACKED_BYTES = 8 * 1024 * 1024;
/** The dictionary must fit into the window, of 8 KB. */
const DEFLATE = { dictionary: DICTIONARY, windowBits: 13, level: 9 } as const;

/** Estimates the memory: the packed text is about a fifth of the served form, and has two copies. */
const bytesOf = ({ length }: ManagerList) => length * 2;
const byKey = new BoundedMap<ManagerList>({ maxBytes: MAX_LISTS_BYTES, bytesOf });
const byPacked = new BoundedMap<ManagerList>({ maxBytes: MAX_LISTS_BYTES, bytesOf });

export function listOf(managers: readonly ListedManager[]): ManagerList {
  let key = '';
  for (const { manager, operation, apiVersion, subresource, template } of managers) {
    key += `${template.id},${manager.length},${manager},${operation},${apiVersion},${subresource.length},${subresource};`;
  }
  let list = byKey.get(key);
  if (!list) {
    list = listWith(managers);
    byKey.set(key, list);
  }
  return list;
}

function listWith(managers: readonly ListedManager[]): ManagerList {
  const served = managers.map(servedEntry);
  return { managers, served, length: served.flat().reduce((sum, { length }) => sum + length, 0) };
}

function servedEntry({ manager, operation, apiVersion, subresource, template }: ListedManager): Buffer[] {
  const head = JSON.stringify({ ...(manager ? { manager } : {}), operation, apiVersion, fieldsType: 'FieldsV1' });
  const tail = subresource ? `,"subresource":${JSON.stringify(subresource)}}` : '}';
  const last = template.texts.length - 1;
  return template.texts.map((text, index) => {
    return Buffer.from(`${index === 0 ? `${head.slice(1, -1)},"fieldsV1":` : ''}${text}${index === last ? tail : ''}`);
  });
}

/** Returns the list in its stored form, in base64. */
export function packedOf(list: ManagerList): string {
  let text = packed.get(list);
  if (text === undefined) {
    text = pack(list.managers);
    packed.set(list, text);
    byPacked.set(text, list);
  }
  return text;
}

const packed = new WeakMap<ManagerList, string>();

function pack(managers: readonly ListedManager[]): string {
  const rows = managers.map(({ manager, operation, apiVersion, subresource, template }) => {
    const head = JSON.stringify([manager, operation, apiVersion, subresource]).slice(0, -1);
    return `${head},${template.texts.join(IDENTIFIER)}]\n`;
  });
  return deflateRawSync(rows.join(''), DEFLATE).toString('base64');
}

/** Unpacks a list. Throws when the text is not one. */
export function unpack(text: string): ManagerList {
  const known = byPacked.get(text);
  if (known) return known;
  const options = { dictionary: DICTIONARY, maxOutputLength: MAX_UNPACKED_BYTES };
  const rows = inflateRawSync(Buffer.from(text, 'base64'), options).toString().split('\n').slice(0, -1);
  const list = listWith(rows.map(unpackedRow));
  packed.set(list, text);
  byPacked.set(text, list);
  return list;
}

/** A list found in bytes, and the offset behind its text. */
export interface FoundList {
  readonly list: ManagerList;
  readonly end: number;
}

interface RecentList {
  readonly text: Buffer;
  readonly list: ManagerList;
}

const RECENT_LISTS = 256;
/** Limit for the length of cached lists, which together take 8 MB at most. */
const MAX_RECENT_LENGTH = 32 * 1024;
const SPACE = 0x20;
/** Lists indexed by some bytes of their texts: comparing bytes takes a tenth of hashing a string. */
const recent = new Array<RecentList | undefined>(RECENT_LISTS).fill(undefined);

/** Returns the list whose packed text begins at an offset and ends with a space. */
export function listAt(bytes: Buffer, start: number): FoundList {
  const slot = (bytes[start + 8]! * 31 + bytes[start + 13]! * 7 + bytes[start + 17]!) % RECENT_LISTS;
  const known = recent[slot];
  if (known) {
    const end = start + known.text.length;
    if (bytes[end] === SPACE && bytes.compare(known.text, 0, known.text.length, start, end) === 0) {
      return { list: known.list, end };
    }
  }
  const end = bytes.indexOf(SPACE, start);
  const text = bytes.toString('latin1', start, end);
  const list = unpack(text);
  if (list.length <= MAX_RECENT_LENGTH) recent[slot] = { text: Buffer.from(text, 'latin1'), list };
  return { list, end };
}

/** Parses `["MANAGER","OPERATION","APIVERSION","SUBRESOURCE",{…}]`; names have no control characters. */
function unpackedRow(row: string): ListedManager {
  const fields = row.search(/,\{(?:"|\}\]$)/);
  const [manager, operation, apiVersion, subresource] = JSON.parse(`${row.slice(0, fields)}]`) as string[];
  return {
    manager: manager!,
    operation: operation!,
    apiVersion: apiVersion!,
    subresource: subresource!,
    template: templateOf(row.slice(fields + 1, -1)),
  };
}
