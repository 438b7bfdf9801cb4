/** Kills backups and restores at random moments, and checks what is left. */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { readSavedFiles } from '../../../src/assembly/store/backups/saved-files.ts';
import { readState } from '../../../src/backup/restoring/state.ts';
import { systemRandom } from '../../../src/base/random.ts';
import { systemClock } from '../../../src/base/time/clock.ts';
import { openEmbeddedStore } from '../../../src/store/embedded/open.ts';
import { formatKeyring, newKey } from '../../../src/store/encryption/keyring.ts';
import type { Row, Store } from '../../../src/store/store.ts';
import { runQd, spawnProgram } from '../../e2e/program.ts';
import { dice } from '../random.ts';

export interface BackupRounds {
  readonly rounds: number;
  readonly seed: number;
  report(line: string): void;
}

export interface BackupSummary {
  /** Programs that were killed before they ended. */
  readonly killed: number;
  readonly problems: readonly string[];
}

const ROWS = 3_000;
const VALUE_BYTES = 2_000;
const STEPS = 1_000_000;

export async function backupRounds({ rounds, seed, report }: BackupRounds): Promise<BackupSummary> {
  const scratch = await mkdtemp(join(tmpdir(), 'qd-crash-backups-'));
  try {
    return await run(await originIn(scratch), { rounds, seed, report }, scratch);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** A cluster that is stopped. */
interface Origin {
  readonly directory: string;
  readonly rows: readonly Row[];
}

async function originIn(scratch: string): Promise<Origin> {
  const directory = join(scratch, 'origin');
  await mkdir(join(directory, 'pki'), { recursive: true, mode: 0o700 });
  for (const name of ['pki/ca.crt', 'pki/ca.key', 'pki/sa.key']) await write(join(directory, name), name);
  await write(join(directory, 'encryption.key'), formatKeyring([newKey(systemRandom)]));
  await write(join(directory, 'cluster.json'), JSON.stringify({ format: 1, store: 'embedded', port: 6443 }));
  const store = await openEmbeddedStore({ directory: join(directory, 'store'), clock: systemClock });
  const value = Buffer.alloc(VALUE_BYTES, 'content ');
  const keys = Array.from({ length: ROWS }, (_, i) => `/registry/core/configmaps/default/${i}`);
  await Promise.all(keys.map((key) => store.commit([{ key, value }])));
  const { rows } = await store.list('');
  await store.close();
  return { directory, rows };
}

async function run({ directory, rows }: Origin, options: BackupRounds, scratch: string): Promise<BackupSummary> {
  const { rounds, seed, report } = options;
  const roll = dice(seed);
  const random = () => roll(STEPS) / STEPS;
  const problems: string[] = [];
  let killed = 0;
  const location = join(scratch, 'backups');
  const backUp = ['backup', 'now', '--to', location, '--data-dir', directory];
  const [target, work] = [join(scratch, 'restored'), { backUp: 0, restore: 0 }];
  work.backUp = await timed(backUp);
  const restore = ['restore', location, '--data-dir', target];
  work.restore = await timed(restore);
  await checkRestored(target, { directory, rows });
  const [kept] = await readdir(location);
  for (let round = 1; round <= rounds; round++) {
    const problem = (what: string) => problems.push(`round ${round}: ${what}`);
    await rm(target, { recursive: true, force: true });
    if (await killAfter(backUp, random() * work.backUp)) killed++;
    for (const name of await readdir(location)) {
      if (name.startsWith('.')) continue;
      const state = await readState(bytesOf(join(location, name))).catch((error: Error) =>
        problem(`${name}: ${error.message}`),
      );
      if (typeof state === 'object' && !sameRows(state.rows, rows)) problem(`${name} lacks objects`);
    }
    if (await killAfter(restore, random() * work.restore)) killed++;
    const isThere = existsSync(join(target, 'cluster.json'));
    if (!isThere) {
      const again = await runQd(restore);
      if (again.code !== 0) problem(`the restore does not run again: ${again.stderr}`);
    }
    await checkRestored(target, { directory, rows }).catch((error: Error) => problem(error.message));
    for (const name of await readdir(location)) if (name !== kept) await rm(join(location, name));
    report(`round ${round}: ${isThere ? 'restored' : 'as before'}; ${problems.length} problems`);
  }
  return { killed, problems };
}

/** Rejects unless the directory has everything that the cluster had. */
async function checkRestored(target: string, { directory, rows }: Origin): Promise<void> {
  const [restored, original] = await Promise.all([
    readSavedFiles(target, join(target, 'encryption.key')),
    readSavedFiles(directory, join(directory, 'encryption.key')),
  ]);
  for (const name of ['ca.crt', 'ca.key', 'sa.key', 'encryption.key']) {
    if (restored[name] !== original[name]) throw new Error(`${name} differs`);
  }
  const store: Store = await openEmbeddedStore({ directory: join(target, 'store'), clock: systemClock });
  try {
    if (!sameRows((await store.list('')).rows, rows)) throw new Error('the restored objects differ');
  } finally {
    await store.close();
  }
}

const sameRows = (a: readonly Row[], b: readonly Row[]) => {
  const sorted = (each: readonly Row[]) => [...each].sort((x, y) => (x.key < y.key ? -1 : 1));
  return isDeepStrictEqual(sorted(a), sorted(b));
};

async function* bytesOf(file: string): AsyncGenerator<Buffer> {
  yield await readFile(file);
}

const write = (file: string, text: string) => writeFile(file, text, { mode: 0o600 });

async function timed(args: readonly string[]): Promise<number> {
  const began = performance.now();
  const { code, stderr } = await runQd(args);
  if (code !== 0) throw new Error(stderr);
  return performance.now() - began;
}

/** Resolves with whether the program was killed before it ended. */
async function killAfter(args: readonly string[], milliseconds: number): Promise<boolean> {
  const child = spawnProgram('qd', args, {});
  const timer = setTimeout(() => child.kill('SIGKILL'), milliseconds);
  const [, signal] = await once(child, 'exit');
  clearTimeout(timer);
  return signal === 'SIGKILL';
}
