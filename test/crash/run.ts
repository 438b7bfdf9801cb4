/**
 * Kills programs that write to a store, and checks that it kept its word:
 *
 *   npx tsx test/crash/run.ts --store embedded|etcd [--rounds 50] [--seed N]
 */
import { parseArgs } from 'node:util';
import { crashRounds } from './rounds.ts';

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'embedded' },
    rounds: { type: 'string', default: '50' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});

const { store } = values;
if (store !== 'embedded' && store !== 'etcd') throw new Error('--store is embedded or etcd');

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
