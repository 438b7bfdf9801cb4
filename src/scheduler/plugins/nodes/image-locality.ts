/** Nodes that have the pod's images already are better, and the more so the larger the images are. */
import type { Plugin } from '../../framework/plugin.ts';
import { BEST } from '../../framework/scores.ts';
import type { Pod } from '../../objects.ts';

const MB = 1024 * 1024;
const LEAST = 23 * MB;
const MOST_OF_ONE = 1000 * MB;

interface Wanted {
  readonly names: readonly string[];
  /** Of all nodes, how many have an image: one that is everywhere counts in full, a rare one draws no crowd. */
  readonly spread: (name: string) => number;
  readonly most: number;
}

export const imageLocality: Plugin<undefined, Wanted> = {
  name: 'ImageLocality',
  weight: 1,
  preScore({ pod }, { cluster }) {
    if (cluster.images.size === 0) return undefined;
    const names = imagesOf(pod).filter((name) => cluster.images.has(name));
    if (names.length === 0) return undefined;
    const total = cluster.nodes.length;
    const containers = pod.spec.containers.length + (pod.spec.initContainers?.length ?? 0);
    return { names, spread: (name) => (cluster.images.get(name) ?? 0) / total, most: MOST_OF_ONE * containers };
  },
  score(_, { images }, { names, spread, most }) {
    let sum = 0;
    for (const name of names) {
      const size = images.get(name);
      if (size !== undefined) sum += Math.trunc(size * spread(name));
    }
    const within = Math.min(Math.max(sum, LEAST), most);
    return Math.trunc((BEST * (within - LEAST)) / (most - LEAST));
  },
};

function imagesOf({ spec }: Pod): string[] {
  const ofContainers = [...(spec.initContainers ?? []), ...spec.containers].map(({ image = '' }) => image);
  const ofVolumes = spec.volumes?.flatMap(({ image }) => image?.reference ?? []) ?? [];
  return [...ofContainers, ...ofVolumes].map(tagged);
}

function tagged(name: string): string {
  return name.lastIndexOf(':') <= name.lastIndexOf('/') ? `${name}:latest` : name;
}
