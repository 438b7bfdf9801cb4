/** From pods of older templates to pods of the present one, node by node. */
import { isAvailable } from '../../shared/pods/availability.ts';
import type { PodTest, SeenDaemonSet, SeenPod } from './daemon-pod.ts';
import type { Changes } from './keep.ts';
import type { Site, Sites } from './sites.ts';
import { stepsOf } from './steps.ts';

export interface UpdateInput {
  readonly isUpdated: PodTest;
  readonly now: number;
}

/** Only where each node has its pod and no other change is under way. */
export function roll(daemonSet: SeenDaemonSet, { sites, desired }: Sites, { isUpdated, now }: UpdateInput): Changes {
  const { minReadySeconds = 0 } = daemonSet.spec;
  if (sites.every(({ pods }) => pods.every(isUpdated))) return NOTHING;
  const { maxSurge, maxUnavailable } = stepsOf(daemonSet, desired);
  const isUp = (pod: SeenPod) => isAvailable(pod, minReadySeconds, now);
  if (maxSurge === 0) return replace(sites, { maxUnavailable, isUpdated, isUp });
  const pairs = sites.map((site) => pairOf(site, isUpdated));
  return surge(pairs, { maxSurge, desired, isUp });
}

const NOTHING: Changes = { create: [], remove: [] };

interface Replacing {
  readonly maxUnavailable: number;
  readonly isUpdated: PodTest;
  readonly isUp: PodTest;
}

/**
 * Old pods go, and the nodes that are left without one get a new one. An old pod that is not available is no loss; of the
 * others so many may go that not too many nodes are without an available pod. Where a node has several, they are thinned
 * out first.
 */
function replace(sites: readonly Site[], { maxUnavailable, isUpdated, isUp }: Replacing): Changes {
  const broken: SeenPod[] = [];
  const working: SeenPod[] = [];
  let missing = 0;
  for (const { pods } of sites) {
    const only = theOnly(pods);
    const works = only !== undefined && isUp(only);
    if (!works) missing++;
    if (only && !isUpdated(only)) (works ? working : broken).push(only);
  }
  return { create: [], remove: [...broken, ...working.slice(0, Math.max(0, maxUnavailable - missing))] };
}

/** Those aside that are on their way out. */
function theOnly(pods: readonly SeenPod[]): SeenPod | undefined {
  let only: SeenPod | undefined;
  for (const pod of pods) {
    if (pod.metadata.deletionTimestamp) continue;
    if (only) return undefined;
    only = pod;
  }
  return only;
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
  let fresh: SeenPod | undefined;
  let old: SeenPod | undefined;
  let isCrowded = false;
  for (const pod of site.pods) {
    if (pod.metadata.deletionTimestamp) continue;
    if (isFresh(pod)) {
      if (fresh) isCrowded = true;
      else fresh = pod;
    } else if (old) isCrowded = true;
    else old = pod;
  }
  return { site, fresh, old, isCrowded };
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
