/**
 * The file format of snapshots: a line of JSON that describes the content, then the data file of the store as of one
 * revision. Secrets are encrypted, as they are in the store; the keys are not part of it.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, rm, stat } from 'node:fs/promises';
import { fileProblem } from '../../../base/files/file-problem.ts';
import { CliError } from '../../output/cli-error.ts';

export interface SnapshotInfo {
  readonly revision: number;
  /** When it was taken, as RFC 3339. */
  readonly time: string;
  /** Size of the data. */
  readonly bytes: number;
  readonly sha256: string;
}

const FORMAT = 1;
const MAX_HEADER_BYTES = 4096;
const NEWLINE = 0x0a;

/** Writes a snapshot durably. The file must not exist. */
export async function writeArchive(
  file: string,
  data: string,
  about: Pick<SnapshotInfo, 'revision' | 'time'>,
): Promise<SnapshotInfo> {
  const { size: bytes } = await stat(data);
  const contents: SnapshotInfo = { ...about, bytes, sha256: await checksum(createReadStream(data)) };
  const handle = await createNew(file);
  try {
    await handle.write(`${JSON.stringify({ snapshot: 'quarterdeck', format: FORMAT, ...contents })}\n`);
    await copy(createReadStream(data), handle);
  } catch (error) {
    // A part of a snapshot would be taken for one.
    await rm(file, { force: true });
    throw error;
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
    throw new CliError(`${file} already exists; choose another name`, { cause: error });
  }
}

/** Returns the description of a snapshot, after its size and checksum were verified. */
export async function checkArchive(file: string): Promise<SnapshotInfo & { readonly start: number }> {
  const { contents, start } = await readHeader(file);
  const { size } = await stat(file);
  if (size !== start + contents.bytes) {
    throw new CliError(`${file} is truncated: it has ${size} bytes instead of ${start + contents.bytes}`);
  }
  const found = await checksum(createReadStream(file, { start }));
  if (found !== contents.sha256) throw new CliError(`${file} is damaged: its checksum does not match`);
  return { ...contents, start };
}

/** Copies the data of a verified snapshot. */
export async function unpack(file: string, start: number, target: FileHandle): Promise<void> {
  await copy(createReadStream(file, { start }), target);
}

/** Returns what a snapshot says about itself, and where its data begins. */
export async function readHeader(file: string): Promise<{ contents: SnapshotInfo; start: number }> {
  const handle = await open(file, 'r').catch((cause: unknown) => {
    throw new CliError(`${file} cannot be read: ${fileProblem(cause)}`, { cause });
  });
  try {
    if (!(await handle.stat()).isFile()) throw new CliError(`${file} is not a file that qd snapshot save wrote`);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(MAX_HEADER_BYTES), 0, MAX_HEADER_BYTES, 0);
    const end = buffer.subarray(0, bytesRead).indexOf(NEWLINE);
    const header = parse(buffer.toString('utf8', 0, Math.max(end, 0)));
    if (header?.snapshot !== 'quarterdeck') throw new CliError(`${file} is not a snapshot`);
    if (header.format > FORMAT) {
      throw new CliError(`${file} has format ${header.format} and this qd supports ${FORMAT}: use a newer qd`);
    }
    return { contents: header, start: end + 1 };
  } finally {
    await handle.close();
  }
}

function parse(text: string): (SnapshotInfo & { snapshot: string; format: number }) | undefined {
  try {
    const header = JSON.parse(text);
    return typeof header?.sha256 === 'string' && Number.isInteger(header.bytes) ? header : undefined;
  } catch {
    return undefined; // Not a snapshot.
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
