/**
 * Kills processes that write to a durable store, and checks that it kept its promises:
 *
 *   npx tsx test/crash/run.ts [--store NAME] [--rounds 50] [--seed N]
 *
 * With --damage, the data file of the embedded store is damaged instead, in all ways, once in each round.
 */
import { parseArgs } from 'node:util';
import { defaultStore } from '../../src/store/drivers.ts';
import { durableStores } from '../support/store/backends.ts';
import { damageRounds } from './damage/rounds.ts';
import { crashRounds } from './rounds.ts';

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: defaultStore },
    rounds: { type: 'string', default: '50' },
    damage: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});

if (values.damage) await damage();
else await crash();

async function crash(): Promise<void> {
  const store = durableStores.find((name) => name === values.store);
  if (!store) throw new Error(`--store must be one of ${durableStores.join(', ')}`);

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
