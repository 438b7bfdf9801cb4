/** A node is better the more evenly its processors and its memory are used with the pod on it. */
import type { Requests } from '../../cluster/resources.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { BEST } from '../../framework/scores.ts';

export const nodeResourcesBalancedAllocation: Plugin<undefined, Requests> = {
  name: 'NodeResourcesBalancedAllocation',
  weight: 1,
  preScore: ({ requests }) => (requests.cpu === 0 && requests.memory === 0 ? undefined : requests),
  score(_, { allCpu, allKiB, freeCpu, freeKiB }, requests) {
    // Where there is only one of the two, it is always even.
    if (allCpu === 0 || allKiB === 0) return LIKE_BEFORE;
    const cpu = allCpu - freeCpu;
    const memory = allKiB - freeKiB;
    const after = balance((cpu + requests.cpu) / allCpu, (memory + requests.kiB) / allKiB);
    const before = balance(cpu / allCpu, memory / allKiB);
    return BEST / 2 + Math.trunc((BEST / 2 + after - before) / 2);
  },
};

const LIKE_BEFORE = BEST / 2 + BEST / 4;

/** Of two shares that are in use; what is overdrawn counts as full. */
function balance(cpu: number, memory: number): number {
  const deviation = Math.abs(Math.min(1, cpu) - Math.min(1, memory)) / 2;
  return Math.trunc((1 - deviation) * BEST);
}
