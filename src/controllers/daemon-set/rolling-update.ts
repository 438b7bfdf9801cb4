/** From pods of older templates to pods of the present one, node by node. */
import { isAvailable } from '../pods/availability.ts';
import type { PodTest, SeenDaemonSet, SeenPod } from './daemon-pod.ts';
import type { Changes } from './keep.ts';
import type { Site, Sites } from './sites.ts';
import { stepsOf } from './steps.ts';

export interface UpdateInput {
  readonly isUpdated: PodTest;
  readonly now: number;
}

/** Only where each node has its pod and no other change is under way. */
export function roll(daemonSet: SeenDaemonSet, all: Sites, input: UpdateInput): Changes {
  const { minReadySeconds = 0 } = daemonSet.spec;
  const { maxSurge, maxUnavailable } = stepsOf(daemonSet, all.desired);
  const pairs = all.sites.map((site) => pairOf(site, input.isUpdated));
  const isUp = (pod: SeenPod) => isAvailable(pod, minReadySeconds, input.now);
  return maxSurge === 0
    ? replace(pairs, { maxUnavailable, isUp })
    : surge(pairs, { maxSurge, desired: all.desired, isUp });
}

/** What a node has, those aside that are on their way out. */
interface Pair {
  readonly site: Site;
  readonly fresh: SeenPod | undefined;
  readonly old: SeenPod | undefined;
  /** There are more than these: they will be thinned out first. */
  readonly isCrowded: boolean;
}

function pairOf(site: Site, isFresh: PodTest): Pair {
  const present = site.pods.filter(({ metadata }) => !metadata.deletionTimestamp);
  const [fresh, ...moreFresh] = present.filter(isFresh);
  const [old, ...moreOld] = present.filter((pod) => !isFresh(pod));
  return { site, fresh, old, isCrowded: moreFresh.length + moreOld.length > 0 };
}

/**
 * Old pods go, and the nodes that are left without one get a new one. An old pod that is not available is no loss; of the
 * others so many may go that not too many nodes are without an available pod.
 */
function replace(
  pairs: readonly Pair[],
  { maxUnavailable, isUp }: { readonly maxUnavailable: number; readonly isUp: PodTest },
): Changes {
  const broken: SeenPod[] = [];
  const working: SeenPod[] = [];
  let missing = 0;
  for (const { fresh, old, isCrowded } of pairs) {
    const only = isCrowded || (fresh && old) ? undefined : (fresh ?? old);
    if (!only || !isUp(only)) missing++;
    if (only && only === old) (isUp(old) ? working : broken).push(old);
  }
  return { create: [], remove: [...broken, ...working.slice(0, Math.max(0, maxUnavailable - missing))] };
}

/**
 * New pods come beside the old ones, which go when the new ones are available. A new pod beside one that is not available
 * is no surplus. On a node that should have none any more, a pod that is available goes only when there are enough others.
 */
function surge(
  pairs: readonly Pair[],
  { maxSurge, desired, isUp }: { readonly maxSurge: number; readonly desired: number; readonly isUp: PodTest },
): Changes {
  const remove: SeenPod[] = [];
  const create: string[] = [];
  const outcasts: SeenPod[] = [];
  const candidates: string[] = [];
  let surplus = 0;
  let available = 0;
  for (const { site, fresh, old, isCrowded } of pairs) {
    if (isCrowded) {
      surplus++;
      continue;
    }
    const first = old ?? fresh;
    if (first && isUp(first)) available++;
    if (!old) continue;
    if (fresh) {
      if (isUp(fresh)) remove.push(old);
      else surplus++;
    } else if (!site.shouldRun) (isUp(old) ? outcasts : remove).push(old);
    else (isUp(old) ? candidates : create).push(site.node);
  }
  return {
    create: [...create, ...candidates.slice(0, Math.max(0, maxSurge - surplus))],
    remove: [...remove, ...outcasts.slice(0, Math.max(0, available - desired))],
  };
}
