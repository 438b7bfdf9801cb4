/** Prefers nodes that have the pod's images, weighted by size. */
import type { Plugin } from '../../framework/plugin.ts';
import { MAX_SCORE } from '../../framework/scores.ts';
import type { Pod } from '../../objects.ts';

const MB = 1024 * 1024;
const MIN_IMAGE_BYTES = 23 * MB;
const MAX_BYTES_PER_CONTAINER = 1000 * MB;

interface Wanted {
  readonly names: readonly string[];
  /** The share of nodes that have an image: a rare image must not attract all pods to one node. */
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
    return {
      names,
      spread: (name) => (cluster.images.get(name) ?? 0) / total,
      most: MAX_BYTES_PER_CONTAINER * containers,
    };
  },
  score(_, { images }, { names, spread, most }) {
    let sum = 0;
    for (const name of names) {
      const size = images.get(name);
      if (size !== undefined) sum += Math.trunc(size * spread(name));
    }
    const within = Math.min(Math.max(sum, MIN_IMAGE_BYTES), most);
    return Math.trunc((MAX_SCORE * (within - MIN_IMAGE_BYTES)) / (most - MIN_IMAGE_BYTES));
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
