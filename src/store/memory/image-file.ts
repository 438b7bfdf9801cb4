/**
 * A file with the content of a memory store, in which snapshots of test clusters are saved: a line of JSON that
 * describes it, then a line for each object.
 */
import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { isTree } from '../../base/json/tree.ts';
import { compareKeys } from '../keys.ts';
import type { Row } from '../store.ts';
import type { StoreImage } from './memory-store.ts';

export interface ImageFile {
  readonly image: StoreImage;
  /** Additional data about the cluster. */
  readonly about: Readonly<Record<string, unknown>>;
}

const FORMAT = 'quarterdeck-test-cluster';
const VERSION = 1;
const BINARY = 'base64';
/** Leaves room for the revisions that follow. */
const MAX_REVISION = 2 ** 52;
const MAX_SHOWN_CHARACTERS = 40;

export async function writeImage(file: string, { image, about }: ImageFile): Promise<void> {
  const { revision, rows } = image;
  const lines = [
    JSON.stringify({ snapshot: FORMAT, format: VERSION, revision, objects: rows.length, about }),
    ...rows.map(rowLine),
  ];
  await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o600 });
}

/**
 * Reads an image file. Synchronous, because every new cluster waits for it, and the overhead of a promise is as large as
 * the read.
 */
export function readImage(file: string): ImageFile {
  const [first = '', ...lines] = readFileSync(file, 'utf8').trimEnd().split('\n');
  const { snapshot, format, revision, about, objects } = headerOf(first);
  if (snapshot !== FORMAT) throw new Error(`${file} is not a snapshot of a test cluster`);
  if (format !== VERSION) {
    throw new Error(`${file} has format ${shown(format)}, and this release reads format ${VERSION}`);
  }
  if (!isRevision(revision)) throw damagedHeader(file, 'revision must be a whole number, at most 2^52');
  if (!isRevision(objects)) throw damagedHeader(file, 'objects must be the number of objects');
  if (!isTree(about)) throw damagedHeader(file, 'about must be a map');
  const rows = lines.map((line, index) => {
    const row = parseRowLine(line);
    if (!row) throw new Error(`${file} is damaged: line ${index + 2} cannot be read`);
    if (row.revision > revision) {
      throw new Error(
        `${file} is damaged: line ${index + 2} is of revision ${row.revision}, and line 1 of ${revision}`,
      );
    }
    return row;
  });
  if (rows.length !== objects) throw new Error(`${file} is damaged: it has ${rows.length} of ${objects} objects`);
  const misplaced = rows.findIndex(({ key }, index) => index > 0 && compareKeys(rows[index - 1]!.key, key) >= 0);
  if (misplaced > 0) {
    throw new Error(`${file} is damaged: the keys of lines ${misplaced + 1} and ${misplaced + 2} are not in order`);
  }
  return { image: { revision, rows }, about };
}

/** The error about a field of the first line. */
export const damagedHeader = (file: string, problem: string) => new Error(`${file} is damaged: line 1: ${problem}`);

/** Encodes a row. Most values are JSON, but some are not even text. */
export function rowLine({ key, revision, value }: Row): string {
  return JSON.stringify([
    key,
    revision,
    ...(isUtf8(value) ? [value.toString('utf8')] : [value.toString(BINARY), BINARY]),
  ]);
}

/** Parses a row; undefined when the line is damaged. */
export function parseRowLine(line: string): Row | undefined {
  const [key, revision, value, encoding = 'utf8'] = listIn(line);
  if (typeof key !== 'string' || typeof value !== 'string' || !isRevision(revision)) return undefined;
  if (encoding !== 'utf8' && encoding !== BINARY) return undefined;
  return { key, revision, value: Buffer.from(value, encoding) };
}

const isRevision = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MAX_REVISION;

/** Formats a value of the file for an error. */
const shown = (value: unknown) => (JSON.stringify(value) ?? 'none').slice(0, MAX_SHOWN_CHARACTERS);

function listIn(line: string): readonly unknown[] {
  try {
    const list = JSON.parse(line);
    return Array.isArray(list) ? list : [];
  } catch {
    return [];
  }
}

function headerOf(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line) ?? {};
  } catch {
    return {}; // Some other file.
  }
}
