/**
 * A snapshot is one file: a line of JSON that says what follows, then the data file of the store as it was at one
 * revision. Secrets in it are as the store keeps them, encrypted; the keys are not in it.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { CliError } from '../output/cli-error.ts';

export interface Contents {
  readonly revision: number;
  /** When it was taken, as RFC 3339. */
  readonly time: string;
  /** Of the data. */
  readonly bytes: number;
  readonly sha256: string;
}

const FORMAT = 1;
/** The first line is not longer. */
const HEAD = 4096;
const NEWLINE = 0x0a;

/** Writes the archive, durably. The file must not exist. */
export async function writeArchive(
  file: string,
  data: string,
  about: Pick<Contents, 'revision' | 'time'>,
): Promise<Contents> {
  const { size: bytes } = await stat(data);
  const contents: Contents = { ...about, bytes, sha256: await checksum(createReadStream(data)) };
  const handle = await createNew(file);
  try {
    await handle.write(`${JSON.stringify({ snapshot: 'quarterdeck', format: FORMAT, ...contents })}\n`);
    await copy(createReadStream(data), handle);
  } finally {
    await handle.close();
  }
  return contents;
}

async function createNew(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'wx', 0o600);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new CliError(`${file} exists already; choose another name`, { cause: error });
  }
}

/** What an archive says of itself, when its data is what it says. */
export async function checkArchive(file: string): Promise<Contents & { readonly start: number }> {
  const { contents, start } = await readHead(file);
  const { size } = await stat(file);
  if (size !== start + contents.bytes) {
    throw new CliError(`${file} is cut off: it has ${size} bytes and should have ${start + contents.bytes}`);
  }
  const found = await checksum(createReadStream(file, { start }));
  if (found !== contents.sha256)
    throw new CliError(`${file} is damaged: its checksum is not the one it was written with`);
  return { ...contents, start };
}

/** Copies the data of an archive that was checked. */
export async function unpack(file: string, start: number, target: FileHandle): Promise<void> {
  await copy(createReadStream(file, { start }), target);
}

async function readHead(file: string): Promise<{ contents: Contents; start: number }> {
  const handle = await open(file, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD), 0, HEAD, 0);
    const end = buffer.subarray(0, bytesRead).indexOf(NEWLINE);
    const head = parse(buffer.toString('utf8', 0, Math.max(end, 0)));
    if (head?.snapshot !== 'quarterdeck') throw new CliError(`${file} is no snapshot`);
    if (head.format > FORMAT) {
      throw new CliError(`${file} has format ${head.format} and this program knows ${FORMAT}: use the newer qd`);
    }
    return { contents: head, start: end + 1 };
  } finally {
    await handle.close();
  }
}

function parse(text: string): (Contents & { snapshot: string; format: number }) | undefined {
  try {
    const head = JSON.parse(text);
    return typeof head?.sha256 === 'string' && Number.isInteger(head.bytes) ? head : undefined;
  } catch {
    return undefined; // What is no JSON is no snapshot.
  }
}

async function copy(bytes: AsyncIterable<Buffer>, target: FileHandle): Promise<void> {
  for await (const chunk of bytes) await target.appendFile(chunk);
  await target.sync();
}

async function checksum(bytes: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of bytes) hash.update(chunk);
  return hash.digest('hex');
}
