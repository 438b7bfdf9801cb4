/** Ranks the nodes that fit. */
import type { Random } from '../../base/random.ts';
import type { NodeInfo } from '../cluster/node-info.ts';
import type { PodInfo } from '../cluster/pod-info.ts';
import type { World } from '../cluster/world.ts';
import type { Plugin } from './plugin.ts';

export interface PluginScores {
  readonly plugin: string;
  readonly weight: number;
  /** Scores of the nodes, from 0 to 100. */
  readonly scores: readonly number[];
}

/** Returns the scores of every plugin that tells nodes apart. */
export function scoresOf(
  plugins: readonly Plugin[],
  { pod, world }: { readonly pod: PodInfo; readonly world: World },
  nodes: readonly NodeInfo[],
): PluginScores[] {
  const found: PluginScores[] = [];
  for (const plugin of plugins) {
    const { name, weight, score, preScore, normalise } = plugin;
    if (weight === undefined || !score) continue;
    const state = preScore?.(pod, world, nodes);
    if (preScore && state === undefined) continue;
    const scores = new Array<number>(nodes.length);
    for (let i = 0; i < nodes.length; i++) scores[i] = score(pod, nodes[i]!, state);
    normalise?.(scores, nodes, state);
    found.push({ plugin: name, weight, scores });
  }
  return found;
}

export function totals(found: readonly PluginScores[], count: number): number[] {
  const sums = new Array<number>(count).fill(0);
  for (const { weight, scores } of found) for (let i = 0; i < count; i++) sums[i]! += weight * scores[i]!;
  return sums;
}

/** Returns the index of the highest score; ties are broken at random. */
export function pick(sums: readonly number[], random: Random): number {
  let most = Number.NEGATIVE_INFINITY;
  let equals = 0;
  for (let i = 0; i < sums.length; i++) {
    if (sums[i]! > most) {
      most = sums[i]!;
      equals = 1;
    } else if (sums[i] === most) {
      equals++;
    }
  }
  let left = equals > 1 ? random.int(equals) : 0;
  for (let i = 0; i < sums.length; i++) if (sums[i] === most && left-- === 0) return i;
  return 0;
}
