/**
 * Kills processes that write to a durable store, and checks that it kept its promises:
 *
 *   npx tsx test/crash/run.ts [--store NAME] [--rounds 50] [--seed N]
 *
 * With --archive, the processes have an archive of the store, which is checked. With --damage, the data file of the embedded store
 * is damaged instead, in all ways, once in each round. With --backups, backups and restores of the built program are killed.
 */
import { parseArgs } from 'node:util';
import { defaultStore } from '../../src/store/drivers.ts';
import { durableStores } from '../support/store/backends.ts';
import { archiveRounds } from './archive/rounds.ts';
import { backupRounds } from './backups/rounds.ts';
import { damageRounds } from './damage/rounds.ts';
import { crashRounds } from './rounds.ts';

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: defaultStore },
    rounds: { type: 'string', default: '50' },
    archive: { type: 'boolean', default: false },
    damage: { type: 'boolean', default: false },
    backups: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});

if (values.backups) await backups();
else if (values.damage) await damage();
else if (values.archive) await crashWithArchive();
else await crash();

function durableStore() {
  const store = durableStores.find((name) => name === values.store);
  if (!store) throw new Error(`--store must be one of ${durableStores.join(', ')}`);
  return store;
}

async function crashWithArchive(): Promise<void> {
  const { rounds, acknowledged, archived, problems } = await archiveRounds({
    store: durableStore(),
    rounds: Number(values.rounds),
    seed: Number(values.seed),
    report: (line) => console.log(line),
  });
  for (const problem of problems) console.error(problem);
  console.log(
    `${values.store}: ${rounds} rounds (seed ${values.seed}), ${acknowledged} writes acknowledged, ` +
      `${archived} changes in the archive, ${problems.length} promises broken`,
  );
  process.exitCode = problems.length > 0 ? 1 : 0;
}

async function crash(): Promise<void> {
  const store = durableStore();
  const summary = await crashRounds({
    store,
    rounds: Number(values.rounds),
    seed: Number(values.seed),
    report: (line) => console.log(line),
  });
  for (const problem of summary.problems) console.error(problem);
  console.log(
    `${store}: ${summary.rounds} rounds (seed ${values.seed}), ${summary.acknowledged} of ${summary.issued} writes ` +
      `acknowledged, ${summary.told} changes told and ${summary.resumed} after resuming, ` +
      `${summary.problems.length} promises broken`,
  );
  process.exitCode = summary.problems.length > 0 ? 1 : 0;
}

async function damage(): Promise<void> {
  const { cases, harmless, partial, rejected, problems } = await damageRounds({
    rounds: Number(values.rounds),
    seed: Number(values.seed),
    report: (line) => console.log(line),
  });
  for (const problem of problems) console.error(problem);
  console.log(
    `${cases} damaged files (seed ${values.seed}): ${harmless} were read in full, ${partial} without the keys that were ` +
      `rejected, ${rejected} were rejected, ${problems.length} problems`,
  );
  process.exitCode = problems.length > 0 ? 1 : 0;
}

async function backups(): Promise<void> {
  const rounds = Number(values.rounds);
  const report = (line: string) => console.log(line);
  const { killed, problems } = await backupRounds({ rounds, seed: Number(values.seed), report });
  for (const problem of problems) console.error(problem);
  console.log(`${rounds} backups and restores (seed ${values.seed}), ${killed} killed, ${problems.length} problems`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
