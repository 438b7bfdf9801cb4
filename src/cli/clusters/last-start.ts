/** `DIR/last-start.json`: what the last start of a cluster says about itself to commands that manage it. */
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readIfThere } from '../../base/files/own/files.ts';
import { isCopy } from '../../base/files/own/is-copy.ts';

const LAST_START_FILE = 'last-start.json';

export interface LastStart {
  readonly name: string;
  /** The release of qd. */
  readonly version: string;
  readonly pid: number;
  readonly nodes: number;
  /** Its flags, with absolute paths; undefined: an earlier release has not written them. */
  readonly args?: readonly string[] | undefined;
  /** The kubeconfig files that have a context of the cluster, besides the one in the data directory. */
  readonly kubeconfigs: readonly string[];
}

/** As it is on disk. */
interface WrittenStart extends LastStart {
  /** The directory that it was written in; undefined: by an earlier release. */
  readonly writtenIn: string | undefined;
}

/** Replaces the file atomically. It need not survive a power cut, and is not flushed. */
export async function writeLastStart(directory: string, start: LastStart): Promise<void> {
  const before = await readLastStart(directory);
  // A cluster that was published elsewhere before is still there.
  const kubeconfigs = [...new Set([...start.kubeconfigs, ...(before?.kubeconfigs ?? [])])];
  const next = join(directory, `${LAST_START_FILE}.${process.pid}.tmp`);
  const written: WrittenStart = { ...start, kubeconfigs, writtenIn: directory };
  await writeFile(next, `${JSON.stringify(written, undefined, 2)}\n`, { mode: 0o600 });
  await rename(next, join(directory, LAST_START_FILE));
}

/** Returns undefined for a directory that was never started. */
export async function readLastStart(directory: string): Promise<LastStart | undefined> {
  return read(directory);
}

/** Returns the directory that this one is a copy of, and that it has the address of, until its first start; undefined: none. */
export async function originalOf(directory: string): Promise<string | undefined> {
  const { writtenIn } = (await read(directory)) ?? {};
  return writtenIn !== undefined && (await isCopy(directory, writtenIn)) ? writtenIn : undefined;
}

async function read(directory: string): Promise<WrittenStart | undefined> {
  const text = await readIfThere(join(directory, LAST_START_FILE));
  if (text === undefined) return undefined;
  try {
    const { name, version, pid, nodes, args, kubeconfigs, writtenIn } = JSON.parse(text);
    if (![name, version].every((each) => typeof each === 'string') || !Array.isArray(kubeconfigs)) return undefined;
    const files = kubeconfigs.filter((file) => typeof file === 'string');
    const directory = typeof writtenIn === 'string' ? writtenIn : undefined;
    const given = isTexts(args) ? args : undefined;
    return { name, version, pid, nodes, args: given, kubeconfigs: files, writtenIn: directory };
  } catch {
    return undefined; // The next start writes it again.
  }
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');
