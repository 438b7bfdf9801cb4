/** Starts a release on a copy of a store, and resolves with what it reports. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, rm } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import type { Cleanup } from '../../../../assembly/cleanup.ts';
import type { StoreImage } from '../../../../store/memory/memory-store.ts';
import { type CopyHeader, type CopyResult, FROM_INPUT, sendCopy } from './messages.ts';

/** How long a release may take besides the time that its controllers run. */
const MAX_START_MS = 180_000;
const MAX_ERROR_CHARACTERS = 4_000;

export interface RunOptions {
  /** The file that Node runs. */
  readonly program: string;
  readonly header: CopyHeader;
  readonly image: StoreImage;
  /** The working directory of the last start, which its flags may refer to. */
  readonly cwd: string;
  readonly cleanup: Cleanup;
}

/** Resolves with the last lines that the program wrote when it has not reported anything. */
export async function runOnCopy(options: RunOptions): Promise<CopyResult | { readonly failure: string }> {
  const { program, header, image, cwd, cleanup } = options;
  await mkdir(header.scratch, { mode: 0o700 });
  await chmod(header.scratch, 0o700);
  const child = spawn(process.execPath, [program, 'upgrade', FROM_INPUT, '--preview'], {
    cwd,
    stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
    timeout: MAX_START_MS + header.milliseconds,
    killSignal: 'SIGKILL',
  });
  cleanup.add(async () => {
    child.kill('SIGKILL');
    await ended(child);
  });
  try {
    const result = collect(child.stdio[3] as Readable);
    const errors = collect(child.stderr as Readable);
    // A program that ends early says why.
    child.stdin?.on('error', () => undefined);
    const sent = sendCopy(child.stdin as Writable, header, image).catch(() => undefined);
    const [code, signal] = await once(child, 'close');
    await sent;
    const text = await result;
    if (code === 0 && text !== '') return JSON.parse(text);
    const why = signal === null ? `it ended with ${code}` : `it was ended with ${signal}`;
    return { failure: lastLines(await errors) ?? why };
  } finally {
    await rm(header.scratch, { recursive: true, force: true });
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

async function collect(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

/** Undefined when there is nothing. */
function lastLines(text: string): string | undefined {
  return text.trim().slice(-MAX_ERROR_CHARACTERS).split('\n').slice(-5).join(' ') || undefined;
}
