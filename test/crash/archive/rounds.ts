import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { startBackend } from '../../support/store/backends.ts';
import { type Dice, dice } from '../random.ts';
import type { RoundsOptions } from '../rounds.ts';
import { type StoreSpec, tokenOf } from '../stores.ts';
import { openBoth } from './opened.ts';
import { type Archived, type ArchiveEvidence, verdict, type Written } from './verdict.ts';
import type { Line } from './writer.ts';

export interface ArchiveSummary {
  readonly rounds: number;
  readonly acknowledged: number;
  readonly archived: number;
  /** Broken promises, each with its round. */
  readonly problems: readonly string[];
}

/** What was written in all rounds so far, by its id. */
interface Ledger {
  readonly issued: Map<string, Written>;
  readonly acknowledged: Map<string, Written>;
}

/** Kills a process that writes to a store with an archive, again and again, and checks the archive. */
export async function archiveRounds({ store, rounds, seed, report }: RoundsOptions): Promise<ArchiveSummary> {
  const directory = await mkdtemp(join(tmpdir(), 'crash-archive-'));
  const backend = await startBackend(store);
  const spec: StoreSpec = { store, settings: backend.settings, directory };
  const next = dice(seed);
  const ledger: Ledger = { issued: new Map(), acknowledged: new Map() };
  const problems: string[] = [];
  let archived = 0;
  try {
    for (let round = 1; round <= rounds; round++) {
      await writeUntilKilled({ spec, round, next }, ledger);
      const evidence = await look(spec, ledger, next);
      archived = evidence.archived.length;
      const found = verdict(evidence);
      problems.push(...found.map((problem) => `round ${round}: ${problem}`));
      report?.(
        `round ${round}: ${ledger.acknowledged.size} writes acknowledged, ${archived} changes in the archive, ` +
          `${found.length} problems`,
      );
    }
  } finally {
    await backend.remove();
    await rm(directory, { recursive: true, force: true });
  }
  return { rounds, acknowledged: ledger.acknowledged.size, archived, problems };
}

interface Round {
  readonly spec: StoreSpec;
  readonly round: number;
  readonly next: Dice;
}

async function writeUntilKilled({ spec, round, next }: Round, ledger: Ledger): Promise<void> {
  const program = join(import.meta.dirname, 'writer.ts');
  const work = JSON.stringify({ spec, round, seed: next(2 ** 31) });
  const child = spawn(process.execPath, ['--import', 'tsx', program, work], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout });
  const drained = new Promise<void>((resolve) => lines.once('close', resolve));
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the writer ended with ${code} before it was killed`)));
    lines.on('line', (text) => {
      const line = parse(text);
      if (line?.say === 'ready') resolve();
      else if (line) ledger[line.say].set(line.id, line);
    });
  });
  // Often within the second after which the archive writes for the first time.
  await wait(20 + next(2_500));
  child.kill('SIGKILL');
  await ended;
  await drained;
}

/** The last line may be cut: then nothing was done after it. */
function parse(text: string): Line | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const MAX_STATES = 5;

async function look(spec: StoreSpec, ledger: Ledger, next: Dice): Promise<ArchiveEvidence> {
  const { store, archive } = await openBoth(spec);
  try {
    const { rows, revision } = await store.list('');
    await archive.reached(revision);
    const archived: Archived[] = [];
    for await (const { key, value, revision: at, origin } of archive.changes({})) {
      const { request, isStatus = false } = origin ?? {};
      archived.push({ key, token: value && tokenOf(value), revision: at, request, isStatus });
    }
    const revisions = [
      revision,
      ...Array.from({ length: MAX_STATES }, () => archived[next(archived.length)]?.revision),
    ];
    const states = new Map<number, ReadonlyMap<string, string>>();
    for (const at of revisions)
      if (at !== undefined) states.set(at, tokens((await archive.list('', { revision: at })).rows));
    return { ...ledger, archived, states, present: tokens(rows) };
  } finally {
    await archive.close();
    await store.close();
  }
}

const tokens = (rows: readonly { readonly key: string; readonly value: Buffer }[]) =>
  new Map(rows.map(({ key, value }) => [key, tokenOf(value)]));
