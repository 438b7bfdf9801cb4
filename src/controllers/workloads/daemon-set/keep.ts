/** One pod on every node that should have one, and none elsewhere, whatever template they come from. */
import { type Action, event, requeueAfter } from '../../loop/plan.ts';
import { isAvailable } from '../../shared/pods/availability.ts';
import { isActive, isReady } from '../../shared/pods/pod-life.ts';
import type { PodTest, SeenDaemonSet, SeenPod } from './daemon-pod.ts';
import type { Patience } from './failed-pods.ts';
import type { Site, Sites } from './sites.ts';
import { stepsOf } from './steps.ts';

/** What is to be done about pods. */
export interface Changes {
  /** The nodes that get one. */
  readonly create: readonly string[];
  readonly remove: readonly SeenPod[];
}

export interface Kept extends Changes {
  /** Where a failed pod goes: the next one there has to wait longer. */
  readonly failed: readonly string[];
  /** What is told of it, and when to look again. */
  readonly actions: readonly Action[];
}

export interface KeepInput {
  readonly isUpdated: PodTest;
  readonly now: number;
  readonly patience: Patience;
}

export function keep(daemonSet: SeenDaemonSet, { sites, stranded }: Sites, input: KeepInput): Kept {
  const work = new Keeping(daemonSet, input);
  for (const site of sites) work.see(site);
  const kept = work.kept();
  return { ...kept, remove: [...kept.remove, ...stranded] };
}

class Keeping {
  readonly #daemonSet: SeenDaemonSet;
  readonly #input: KeepInput;
  readonly #surges: boolean;
  readonly #create: string[] = [];
  readonly #remove: SeenPod[] = [];
  readonly #failed: string[] = [];
  readonly #actions: Action[] = [];

  constructor(daemonSet: SeenDaemonSet, input: KeepInput) {
    this.#daemonSet = daemonSet;
    this.#input = input;
    this.#surges = stepsOf(daemonSet, 1).maxSurge > 0;
  }

  kept(): Kept {
    return { create: this.#create, remove: this.#remove, failed: this.#failed, actions: this.#actions };
  }

  see(site: Site): void {
    const { node, shouldRun, mayStay, pods } = site;
    // Nearly all are like this.
    if (mayStay && pods.length === 1 && isActive(pods[0] as SeenPod)) return;
    const present = pods.filter(({ metadata }) => !metadata.deletionTimestamp);
    if (shouldRun && pods.length === 0) this.#create.push(node);
    else if (!mayStay) this.#remove.push(...present);
    else this.#thin(site, this.#withoutEnded(node, present));
  }

  /** Pods that have ended go; those that failed, not too often. */
  #withoutEnded(node: string, pods: readonly SeenPod[]): readonly SeenPod[] {
    return pods.filter((pod) => {
      const { phase } = pod.status;
      if (phase === 'Failed') this.#removeFailed(node, pod);
      else if (phase === 'Succeeded') this.#removeEnded(pod, `Found succeeded daemon pod ${told(pod, node)} delete it`);
      else return true;
      return false;
    });
  }

  #removeFailed(node: string, pod: SeenPod): void {
    const { now, patience } = this.#input;
    const place = placeOf(this.#daemonSet, node);
    const wait = patience.wait(place, now);
    if (wait > 0) {
      this.#actions.push(requeueAfter(wait));
      return;
    }
    this.#failed.push(place);
    this.#removeEnded(pod, `Found failed daemon pod ${told(pod, node)} kill it`);
  }

  #removeEnded(pod: SeenPod, message: string): void {
    const [type, reason] = pod.status.phase === 'Failed' ? WARNED : NOTED;
    this.#actions.push(event(this.#daemonSet, type, reason, message));
    this.#remove.push(pod);
  }

  /** One of them is enough. While the set surges, an old one may stay until the new one is available. */
  #thin({ node, shouldRun }: Site, running: readonly SeenPod[]): void {
    if (!this.#surges) {
      for (const pod of running.slice(1)) this.#remove.push(pod);
      return;
    }
    if (running.length === 0 && shouldRun) this.#create.push(node);
    const { isUpdated, now } = this.#input;
    const [fresh, ...moreFresh] = running.filter(isUpdated);
    const [old, ...moreOld] = running.filter((pod) => !isUpdated(pod));
    this.#remove.push(...moreFresh, ...moreOld);
    if (!fresh || !old) return;
    const { minReadySeconds = 0 } = this.#daemonSet.spec;
    if (!isReady(old) || isAvailable(fresh, minReadySeconds, now)) this.#remove.push(old);
  }
}

const WARNED = ['Warning', 'FailedDaemonPod'] as const;
const NOTED = ['Normal', 'SucceededDaemonPod'] as const;

const told = ({ metadata }: SeenPod, node: string) =>
  `${metadata.namespace}/${metadata.name} on node ${node}, will try to`;

/** A new template starts afresh. */
const placeOf = ({ metadata, status }: SeenDaemonSet, node: string) =>
  `${metadata.uid}/${status.observedGeneration ?? 0}/${node}`;
