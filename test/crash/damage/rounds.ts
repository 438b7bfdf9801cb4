import { type ChildProcess, spawn } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { systemClock } from '../../../src/base/time/clock.ts';
import { type EmbeddedStore, openEmbeddedStore } from '../../../src/store/index.ts';
import { type Dice, dice } from '../random.ts';
import { damages, type Original } from './damages.ts';
import type { Answer, Reading } from './reader.ts';
import { problemsOf } from './verdict.ts';

export interface DamageOptions {
  /** Number of tries of each kind of damage. */
  readonly rounds: number;
  readonly seed: number;
  report?(line: string): void;
}

export interface DamageSummary {
  readonly cases: number;
  /** Everything was right, in spite of the damage. */
  readonly harmless: number;
  /** Number of rounds in which some values were rejected by their keys. */
  readonly partial: number;
  /** The file was rejected. */
  readonly rejected: number;
  readonly problems: readonly string[];
}

/** Timeout for examining a store of this size. */
const TIMEOUT_MS = 60_000;

/** Damages copies of a store in all ways, and checks how a process that opens them handles the damage. */
export async function damageRounds(options: DamageOptions): Promise<DamageSummary> {
  const scratch = await mkdtemp(join(tmpdir(), 'damage-'));
  const reader = new Reader();
  const next = dice(options.seed);
  const summary = { cases: 0, harmless: 0, partial: 0, rejected: 0, problems: [] as string[] };
  try {
    const original = await writeStore(join(scratch, 'original'), next);
    const expected = await expectedOf(reader, join(scratch, 'undamaged'), original);
    for (let round = 1; round <= options.rounds; round++) {
      for (const [name, damage] of Object.entries(damages)) {
        const { bytes, what } = damage(original, next);
        const directory = join(scratch, 'damaged');
        await place(directory, bytes);
        const answer = await reader.ask(directory);
        const problems = problemsOf(answer, expected);
        const title = `round ${round}, ${name}: ${what}`;
        summary.cases++;
        summary[outcomeOf(answer)]++;
        summary.problems.push(...problems.map((problem) => `${title}: ${problem}`));
        options.report?.(`${title}: ${summarize(answer)}${problems.length > 0 ? ` PROBLEMS: ${problems}` : ''}`);
      }
    }
  } finally {
    reader.end();
    await rm(scratch, { recursive: true, force: true });
  }
  return summary;
}

type Result = Answer | { readonly died: string };

function outcomeOf(answer: Result): 'harmless' | 'partial' | 'rejected' {
  if ('died' in answer || 'rejected' in answer) return 'rejected';
  return answer.first.damaged.length > 0 ? 'partial' : 'harmless';
}

function summarize(answer: Result): string {
  if ('died' in answer) return answer.died;
  if ('rejected' in answer) return `${answer.kind}: ${answer.rejected}`;
  return `${answer.first.damaged.length} keys rejected${answer.first.damaged.map((key) => ` ${key}`)}`;
}

/** Returns the reader's answer for the file before it is damaged. */
async function expectedOf(reader: Reader, directory: string, { bytes }: Original): Promise<Reading> {
  await place(directory, bytes);
  const answer = await reader.ask(directory);
  if (!('first' in answer)) throw new Error(`the undamaged store cannot be read: ${JSON.stringify(answer)}`);
  return answer.first;
}

/** A directory as a process leaves it that was killed: the lock of a dead process is ignored in any case. */
async function place(directory: string, data: Buffer): Promise<void> {
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'format'), '1\n');
  await writeFile(join(directory, 'data.mdb'), data);
}

const KEYS = 150;
const UPDATES = 200;
const HISTORY_BYTES = 200_000;

/** Values on leaves, on one overflow page, and on several; replaced and deleted ones; trimmed history, and free pages. */
async function writeStore(directory: string, next: Dice): Promise<Original> {
  const store = await openEmbeddedStore({ directory, clock: systemClock, historyBytes: HISTORY_BYTES });
  const data = join(directory, 'data.mdb');
  const keyOf = (n: number) =>
    `/registry/${['core/pods', 'apps/deployments', 'core/secrets'][n % 3]}/default/object-${n}`;
  const write = (n: number) => commit(store, keyOf(n), next);
  for (let n = 0; n < KEYS; n++) await write(n);
  for (let i = 0; i < UPDATES; i++) await write(next(KEYS));
  for (let n = 0; n < KEYS; n += 7) await store.commit([{ key: keyOf(n), value: null }]);
  const copy = join(directory, 'earlier');
  await copyFile(data, copy);
  for (let i = 0; i < 10; i++) await Promise.all([write(next(KEYS)), write(next(KEYS))]);
  // As a process that is killed leaves it: nothing is written when a store is closed.
  const original = { bytes: await readFile(data), earlier: await readFile(copy) };
  await store.close();
  return original;
}

async function commit(store: EmbeddedStore, key: string, next: Dice): Promise<void> {
  const size = [100, 900, 1900, 3000, 9000][next(5)] as number;
  await store.commit([{ key, value: Buffer.from(`value-${next(1_000_000)} ${'v'.repeat(next(size))}`) }]);
}

/** A process that examines stores, one after the other. A new one is started when it dies. */
class Reader {
  #child: ChildProcess | undefined;
  #lines: Interface | undefined;
  #exit: Promise<string> | undefined;

  async ask(directory: string): Promise<Result> {
    if (!this.#child) this.#start();
    const child = this.#child as ChildProcess;
    const line = new Promise<string>((resolve) => this.#lines?.once('line', resolve));
    const ended = (this.#exit as Promise<string>).then((how) => ({ died: how }));
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<{ died: string }>((resolve) => {
      timer = setTimeout(() => resolve({ died: `no answer after ${TIMEOUT_MS} ms` }), TIMEOUT_MS);
    });
    child.stdin?.write(`${directory}\n`);
    const result = await Promise.race([line.then((text) => JSON.parse(text) as Answer), ended, late]);
    clearTimeout(timer);
    if ('died' in result) {
      child.kill('SIGKILL');
      this.#child = undefined;
    }
    return result;
  }

  end(): void {
    this.#child?.stdin?.end();
  }

  #start(): void {
    const program = join(import.meta.dirname, 'reader.ts');
    this.#child = spawn(process.execPath, ['--import', 'tsx', program], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#lines = createInterface({ input: this.#child.stdout as NodeJS.ReadableStream });
    this.#exit = new Promise((resolve) =>
      this.#child?.once('exit', (code, signal) => resolve(signal ? `killed by ${signal}` : `ended with ${code}`)),
    );
  }
}
