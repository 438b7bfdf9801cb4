/** Chooses the pods that have to go so that a critical one fits: as few and as unimportant ones as possible. */
import type { Pod } from '../../kinds/groups/core/pod/pod.ts';
import { qosClass } from '../../kinds/shapes/pod/qos-class.ts';
import type { SeenPod } from '../pod/container-run.ts';
import { mayPreempt } from './critical.ts';
import { type Requests, requestsOf, type Shortage } from './resources.ts';

interface Candidate {
  readonly pod: SeenPod;
  readonly requests: Requests;
}

/** Amounts that have to become free, by resource. */
type Needs = ReadonlyMap<string, number>;

export interface Preemption {
  readonly victims: readonly SeenPod[];
  /** Resources still short after evicting every preemptible pod. */
  readonly missing: Needs;
}

export function choosePreempted(pod: SeenPod, others: readonly SeenPod[], lacking: readonly Shortage[]): Preemption {
  const needs: Needs = new Map(
    lacking.map(({ resource, requested, used, capacity }) => [resource, requested - (capacity - used)]),
  );
  const candidates = others
    .filter((other) => mayPreempt(pod, other))
    .map((other): Candidate => ({ pod: other, requests: new Map([...requestsOf(other), ['pods', 1]]) }));
  const of = (wanted: string) => candidates.filter((each) => qosClass(each.pod.spec as Pod['spec']) === wanted);
  const [bestEffort, burstable, guaranteed] = [of('BestEffort'), of('Burstable'), of('Guaranteed')];
  const missing = without(needs, candidates);
  if (missing.size > 0) return { victims: [], missing };
  // Take from each class only what is needed when all pods of lower classes, and those chosen of higher ones, are gone.
  const fromGuaranteed = chooseNearest(guaranteed, without(needs, [...bestEffort, ...burstable]));
  const fromBurstable = chooseNearest(burstable, without(needs, [...bestEffort, ...fromGuaranteed]));
  const fromBestEffort = chooseNearest(bestEffort, without(needs, [...fromBurstable, ...fromGuaranteed]));
  const victims = [...fromBestEffort, ...fromBurstable, ...fromGuaranteed].map((each) => each.pod);
  return { victims, missing };
}

function without(needs: Needs, gone: readonly Candidate[]): Needs {
  const left = [...needs].map(([name, amount]): [string, number] => {
    const freed = gone.reduce((sum, { requests }) => sum + (requests.get(name) ?? 0), 0);
    return [name, amount - freed];
  });
  return new Map(left.filter(([, amount]) => amount > 0));
}

/** Takes the pod that leaves least to be freed, again and again; of equal ones the smaller. */
function chooseNearest(pods: readonly Candidate[], needs: Needs): Candidate[] {
  const left = [...pods];
  const chosen: Candidate[] = [];
  for (let open = needs; open.size > 0 && left.length > 0; ) {
    const best = left.reduce((a, b) => {
      const difference = distance(b, open) - distance(a, open);
      return difference < 0 || (difference === 0 && isSmaller(b, a)) ? b : a;
    });
    left.splice(left.indexOf(best), 1);
    chosen.push(best);
    open = without(open, [best]);
  }
  return chosen;
}

/** The fractions of the needs that stay open, squared. */
function distance({ requests }: Candidate, needs: Needs): number {
  let sum = 0;
  for (const [name, amount] of needs) sum += (Math.max(0, amount - (requests.get(name) ?? 0)) / amount) ** 2;
  return sum;
}

function isSmaller(a: Candidate, b: Candidate): boolean {
  for (const name of ['memory', 'cpu']) {
    const difference = (a.requests.get(name) ?? 0) - (b.requests.get(name) ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return true;
}
