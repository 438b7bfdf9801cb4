/** The termination message of a container that has ended. */
import { openRegularFile } from '../../../base/files/inside/regular-file.ts';
import type { SeenContainer } from '../../pod/container-run.ts';
import { endOfLog, MAX_FALLBACK_LINES, truncated } from '../../pod/termination-message.ts';
import type { Container } from '../../runtime/runtime.ts';

/** More than any message may have, so that the status shows how it is cut. */
const MAX_FILE_BYTES = 4096;
/** Limit for the end of a log: enough for the lines that may become a message, with their prefixes. */
const MAX_LOG_BYTES = 64 * 1024;

export interface EndedContainer {
  readonly record: Container;
  /** Undefined for a container that is not in the spec. */
  readonly container: SeenContainer | undefined;
  /** Where the container could write its message. */
  readonly file: string;
}

/** Returns what the container wrote, or, if its policy says so and it failed, the end of its log. */
export async function terminationMessage({ record, container, file }: EndedContainer): Promise<string | undefined> {
  const own = truncated(await startOf(file), MAX_FILE_BYTES);
  if (own !== '') return own;
  const isFallback = container?.terminationMessagePolicy === 'FallbackToLogsOnError' && record.exitCode !== 0;
  const log = isFallback ? lastLines(await endOf(record.logPath)) : '';
  // The runtime's message explains a container that did not start.
  return log !== '' ? log : record.message || undefined;
}

async function startOf(file: string): Promise<string> {
  return read(file, (size) => ({ from: 0, length: Math.min(size, MAX_FILE_BYTES + 4) }));
}

async function endOf(file: string): Promise<string> {
  return read(file, (size) => {
    const length = Math.min(size, MAX_LOG_BYTES);
    return { from: size - length, length };
  });
}

/** A file that is not there is empty. */
async function read(
  file: string,
  part: (size: number) => { readonly from: number; readonly length: number },
): Promise<string> {
  const handle = await openRegularFile(file).catch(() => undefined);
  if (!handle) return '';
  try {
    const { size } = await handle.stat();
    const { from, length } = part(size);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, from);
    return buffer.toString('utf8', 0, bytesRead);
  } catch {
    return '';
  } finally {
    await handle.close();
  }
}

/** Entries of a log are `TIME stream F|P TEXT`; `P` is a part of a line that goes on in the next entry. */
function lastLines(log: string): string {
  const entries = log.split('\n').flatMap((line) => {
    const [, tag, text = ''] = /^\S+ (?:stdout|stderr) ([FP])\S* ?(.*)$/s.exec(line) ?? [];
    return tag ? [tag === 'P' ? text : `${text}\n`] : [];
  });
  const lines = entries.join('').split(/(?<=\n)/);
  return endOfLog(lines.slice(-MAX_FALLBACK_LINES).join(''));
}
