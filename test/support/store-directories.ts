import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { afterAll } from 'vitest';

/** Directories for the tests of a store. They go when the test file ends. */
export async function scratchDirectories(): Promise<() => string> {
  const root = await mkdtemp(join(tmpdir(), 'store-'));
  let count = 0;
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL');
    await rm(root, { recursive: true, force: true });
  });
  return () => join(root, String(++count));
}

/** A disk of 8 MB, until the test file ends. Only root may mount, and not in every container. */
export function mountSmallDisk(path: string): boolean {
  mkdirSync(path, { recursive: true });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'store-test', path], { stdio: 'ignore' });
  } catch (error) {
    // The program failed or is missing. Where tests must not start programs, they have the wrong class.
    if (!(error instanceof Error && ('status' in error || 'code' in error))) throw error;
    console.warn('skipped: a small disk cannot be mounted here, so that running out of room is not tested');
    return false;
  }
  afterAll(() => execFileSync('umount', [path]));
  return true;
}

export interface Holder {
  readonly pid: number;
  readonly ended: Promise<void>;
  kill(signal: NodeJS.Signals): Promise<void>;
}

const children = new Set<ChildProcess>();

const OPEN = pathToFileURL(join(import.meta.dirname, '../../src/store/embedded/open.ts'));
const CLOCK = pathToFileURL(join(import.meta.dirname, '../../src/base/time/clock.ts'));

/** Starts another process that opens a directory, and writes to it until it is killed. */
export async function otherProcess(directory: string): Promise<Holder> {
  const program = `
    const { openEmbeddedStore } = await import('${OPEN}');
    const { systemClock } = await import('${CLOCK}');
    const store = await openEmbeddedStore({ directory: process.argv[1], clock: systemClock });
    const value = Buffer.alloc(2000, 'x');
    for (let i = 0; ; i++) {
      await Promise.all(Array.from({ length: 8 }, (_, n) => store.commit([{ key: '/k' + ((i * 8 + n) % 500), value }])));
      if (i === 20) console.log('writing');
    }`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program, directory], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  children.add(child);
  child.once('exit', () => children.delete(child));
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
  });
  await firstLine(child);
  return {
    pid: child.pid as number,
    ended,
    kill(signal) {
      child.kill(signal);
      return ended;
    },
  };
}

function firstLine(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the other process ended with ${code}`)));
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).once('line', () => resolve());
  });
}
