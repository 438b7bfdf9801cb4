/** Prefers nodes whose processors and memory are used evenly. */
import type { Requests } from '../../cluster/resources.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { MAX_SCORE } from '../../framework/scores.ts';

export const nodeResourcesBalancedAllocation: Plugin<undefined, Requests> = {
  name: 'NodeResourcesBalancedAllocation',
  weight: 1,
  preScore: ({ requests }) => (requests.cpu === 0 && requests.memory === 0 ? undefined : requests),
  score(_, { allCpu, allKiB, freeCpu, freeKiB }, requests) {
    // With only one of the two, it is always even.
    if (allCpu === 0 || allKiB === 0) return EVEN_SCORE;
    const cpu = allCpu - freeCpu;
    const memory = allKiB - freeKiB;
    const after = balance((cpu + requests.cpu) / allCpu, (memory + requests.kiB) / allKiB);
    const before = balance(cpu / allCpu, memory / allKiB);
    return MAX_SCORE / 2 + Math.trunc((MAX_SCORE / 2 + after - before) / 2);
  },
};

const EVEN_SCORE = MAX_SCORE / 2 + MAX_SCORE / 4;

/** Scores the balance of two used fractions; overcommitted counts as full. */
function balance(cpu: number, memory: number): number {
  const deviation = Math.abs(Math.min(1, cpu) - Math.min(1, memory)) / 2;
  return Math.trunc((1 - deviation) * MAX_SCORE);
}
