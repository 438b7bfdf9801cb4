/**
 * The content of a memory store in a file, in which a snapshot of a test cluster is saved: a line of JSON that describes it,
 * then a line for each object.
 */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import type { Row } from '../store.ts';
import type { StoreImage } from './memory-store.ts';

export interface ImageFile {
  readonly image: StoreImage;
  /** What else is known about the cluster. */
  readonly about: Readonly<Record<string, unknown>>;
}

const FORMAT = 'quarterdeck-test-cluster';
const VERSION = 1;

export async function writeImage(file: string, { image, about }: ImageFile): Promise<void> {
  const lines = [
    JSON.stringify({ snapshot: FORMAT, format: VERSION, revision: image.revision, about }),
    ...image.rows.map(({ key, revision, value }) => JSON.stringify([key, revision, value.toString('utf8')])),
  ];
  await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o600 });
}

/** Synchronous, because every new cluster waits for it, and a promise of a file costs as much as reading it. */
export function readImage(file: string): ImageFile {
  const [first = '', ...lines] = readFileSync(file, 'utf8').trimEnd().split('\n');
  const { snapshot, format, revision, about } = headerOf(first);
  if (snapshot !== FORMAT) throw new Error(`${file} is not a snapshot of a test cluster`);
  if (format !== VERSION) throw new Error(`${file} has format ${format}, and this release reads format ${VERSION}`);
  const rows = lines.map((line): Row => {
    const [key, at, value] = JSON.parse(line);
    return { key, revision: at, value: Buffer.from(value) };
  });
  return { image: { revision: revision as number, rows }, about: about as ImageFile['about'] };
}

function headerOf(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line) ?? {};
  } catch {
    return {}; // Some other file.
  }
}
