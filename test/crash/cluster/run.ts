/**
 * Kills a cluster during requests, and checks that it reaches the requested state:
 *
 *   npx tsx test/crash/cluster/run.ts [--rounds 10] [--kills 4] [--seed N]
 */
import { parseArgs } from 'node:util';
import { clusterRounds } from './rounds.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '10' },
    kills: { type: 'string', default: '4' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});

const { rounds, kills, expected, problems } = await clusterRounds({
  rounds: Number(values.rounds),
  kills: Number(values.kills),
  seed: Number(values.seed),
  report: (line) => console.log(line),
});
for (const problem of problems) console.error(problem);
console.log(
  `${rounds} rounds (seed ${values.seed}), ${kills} kills, ${expected} expected, ${problems.length} problems`,
);
process.exitCode = problems.length > 0 ? 1 : 0;
