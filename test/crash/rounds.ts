import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import type { StoreName } from '../../src/store/drivers.ts';
import { type Backend, startBackend } from '../support/store/backends.ts';
import { changesAfter, oldestChanges } from './history.ts';
import { type Dice, dice } from './random.ts';
import { openStore, type StoreSpec, seenChange, seenRow } from './stores.ts';
import { type Evidence, Ledger, verify } from './verifier.ts';
import type { Line } from './writer.ts';

export interface RoundsOptions {
  readonly store: StoreName;
  readonly rounds: number;
  readonly seed: number;
  report?(line: string): void;
}

export interface Summary {
  readonly rounds: number;
  readonly issued: number;
  readonly acknowledged: number;
  readonly told: number;
  readonly resumed: number;
  /** Broken guarantees, each with its round. */
  readonly problems: readonly string[];
}

/**
 * Kills a writing process, and the program that keeps the data if there is one, again and again, and checks the
 * remaining data.
 */
export async function crashRounds(options: RoundsOptions): Promise<Summary> {
  const directory = await mkdtemp(join(tmpdir(), 'crash-'));
  const backend = await startBackend(options.store);
  const spec: StoreSpec = { store: options.store, settings: backend.settings, directory };
  const next = dice(options.seed);
  const summary = { rounds: 0, issued: 0, acknowledged: 0, told: 0, resumed: 0, problems: [] as string[] };
  try {
    let before = await look(spec);
    for (let round = 1; round <= options.rounds; round++) {
      const ledger = await writeUntilKilled({ spec, round, seed: next(2 ** 31), next, backend });
      const after = await look(spec, { start: before.revision, resumeAt: someTold(ledger, next) });
      const problems = verify(ledger, { ...after, before: before.rows, start: before.revision });
      summary.rounds++;
      summary.issued += ledger.issued.size;
      summary.acknowledged += ledger.acknowledged.size;
      summary.told += ledger.told.length;
      summary.resumed += after.resumed.length;
      summary.problems.push(...problems.map((problem) => `round ${round}: ${problem}`));
      options.report?.(
        `round ${round}: ${ledger.acknowledged.size} of ${ledger.issued.size} writes acknowledged, ` +
          `${ledger.told.length} changes told and ${after.resumed.length} after resuming, ` +
          `revision ${before.revision} to ${after.revision}, ${problems.length} problems`,
      );
      before = after;
    }
  } finally {
    await backend.remove();
    await rm(directory, { recursive: true, force: true });
  }
  return summary;
}

interface Round {
  readonly spec: StoreSpec;
  readonly round: number;
  readonly seed: number;
  readonly next: Dice;
  readonly backend: Backend;
}

/** Runs one round: resolves when the writer is dead, and the backend is up again. */
async function writeUntilKilled({ spec, round, seed, next, backend }: Round): Promise<Ledger> {
  const program = join(import.meta.dirname, 'writer.ts');
  const child = spawn(process.execPath, ['--import', 'tsx', program, JSON.stringify({ spec, round, seed })], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ledger = new Ledger();
  const lines = createInterface({ input: child.stdout });
  const drained = new Promise<void>((resolve) => lines.once('close', resolve));
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the writer ended with ${code} before it was killed`)));
    lines.on('line', (text) => {
      const line = parse(text);
      if (line?.say === 'ready') resolve();
      else if (line) note(ledger, line);
    });
  });
  await wait(20 + next(400));
  const killWriter = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  const kills = [killWriter(), backend.kill()];
  await Promise.all(next(2) === 0 ? kills : kills.reverse());
  await drained;
  await backend.restart();
  return ledger;
}

/** The last line may be cut: then nothing was done after it. */
function parse(text: string): Line | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function note(ledger: Ledger, line: Line): void {
  switch (line.say) {
    case 'issued':
      ledger.issued.set(line.operation.id, line.operation);
      break;
    case 'acknowledged':
      ledger.acknowledged.set(line.id, line.revision);
      break;
    case 'rejected':
      ledger.rejected.add(line.id);
      break;
    case 'told':
      ledger.told.push(...line.changes);
      break;
    case 'ready':
      break;
  }
}

type Found = Omit<Evidence, 'before' | 'start'>;

/**
 * Chooses a revision among the last changes that the watcher received, as if it had received no more; undefined when it
 * received none.
 */
function someTold({ told }: Ledger, next: Dice): number | undefined {
  return told.at(-1 - next(Math.min(told.length, 200) || 1))?.revision;
}

/** Opens the store as the next program would, and reads everything. */
async function look(spec: StoreSpec, since?: { start: number; resumeAt: number | undefined }): Promise<Found> {
  const store = await openStore(spec);
  try {
    const { rows, revision } = await store.list('');
    const start = since?.start ?? revision;
    const resumedAfter = since?.resumeAt ?? start;
    const resumed = await changesAfter(store, resumedAfter, revision);
    const { changes: replayed, after: replayedAfter } = await oldestChanges(store, start, revision);
    return {
      rows: rows.map(seenRow),
      revision,
      resumed: resumed.map(seenChange),
      resumedAfter,
      replayed: replayed.map(seenChange),
      replayedAfter,
    };
  } finally {
    await store.close();
  }
}
