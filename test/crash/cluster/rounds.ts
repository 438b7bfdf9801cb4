import { setTimeout as wait } from 'node:timers/promises';
import { dice } from '../random.ts';
import { ExpectedObjects } from './expected-objects.ts';
import { Script, SORTS } from './script.ts';
import { Survivor } from './survivor.ts';
import { type Found, verdict } from './verdict.ts';

export interface RoundsOptions {
  readonly rounds: number;
  readonly seed: number;
  /** Number of kills in each round. */
  readonly kills?: number;
  report?(line: string): void;
}

export interface Summary {
  readonly rounds: number;
  readonly kills: number;
  readonly expected: number;
  readonly problems: readonly string[];
}

const FLAGS = ['--runtime', 'simulated', '--nodes', '5'];
/** Steps of each sort in a round, also where the kills end before a slow machine has made them. */
const MIN_STEPS = 3;
/** Timeout for a cluster to reach its desired state once the kills have ended. */
const SETTLE_TIMEOUT_MS = 90_000;

/** Runs one cluster, round after round: it is killed during requests, and then has to get everything right. */
export async function clusterRounds({ rounds, seed, kills = 4, report }: RoundsOptions): Promise<Summary> {
  const next = dice(seed);
  const survivor = await Survivor.start(FLAGS);
  const expected = new ExpectedObjects();
  const script = new Script(survivor, expected, dice(next(2 ** 31)));
  const summary = { rounds: 0, kills: 0, expected: 0, problems: [] as string[] };
  try {
    await script.prepare();
    for (let round = 1; round <= rounds; round++) {
      let isKilling = true;
      const asking = SORTS.map(async (sort) => {
        for (let steps = 0; isKilling || steps < MIN_STEPS; steps++) {
          await script.step(sort);
          summary.expected++;
          await wait(next(200));
        }
      });
      for (let kill = 0; kill < kills; kill++) {
        // Often right after the start, while everything is picked up again.
        await wait(next(3) === 0 ? next(150) : next(1500));
        await survivor.killed();
        summary.kills++;
      }
      isKilling = false;
      await Promise.all(asking);
      const problems = await settled(survivor, expected);
      summary.rounds++;
      summary.problems.push(...problems.map((problem) => `round ${round}: ${problem}`));
      report?.(`round ${round}: ${kills} kills, ${summary.expected} expected so far, ${problems.length} problems`);
      if (problems.length > 0) break;
    }
  } finally {
    await survivor.end();
  }
  return summary;
}

/** Returns the problems that remain after the settling time. */
async function settled(survivor: Survivor, expected: ExpectedObjects): Promise<readonly string[]> {
  const latest = Date.now() + SETTLE_TIMEOUT_MS;
  for (;;) {
    const problems = verdict(expected, await look(survivor));
    if (problems.length === 0 || Date.now() > latest) return problems;
    await wait(250);
  }
}

async function look(survivor: Survivor): Promise<Found> {
  const all = async (path: string) => survivor.list(path);
  return {
    namespaces: await all('/api/v1/namespaces'),
    nodes: await all('/api/v1/nodes'),
    deployments: await all('/apis/apps/v1/deployments'),
    replicasets: await all('/apis/apps/v1/replicasets'),
    statefulsets: await all('/apis/apps/v1/statefulsets'),
    daemonsets: await all('/apis/apps/v1/daemonsets'),
    controllerrevisions: await all('/apis/apps/v1/controllerrevisions'),
    jobs: await all('/apis/batch/v1/jobs'),
    pods: await all('/api/v1/pods'),
    configmaps: await all('/api/v1/configmaps'),
    endpoints: await all('/api/v1/endpoints'),
    resourcequotas: await all('/api/v1/resourcequotas'),
  };
}
