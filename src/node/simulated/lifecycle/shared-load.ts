/** Counts the pods that share a load: the running pods of one owner. */
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { controllerOf, type Lister } from '../../../client/informer/object-cache.ts';
import type { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import type { SeenPod } from '../../pod/container-run.ts';
import type { PodLife } from './pod-life.ts';

/** Counts are cached for one moment, since usage is read for all pods of an owner together. */
export class SharedLoad {
  readonly #counts = new Map<string, number>();
  #moment = Number.NaN;

  constructor(
    private readonly pods: Lister<Pod>,
    private readonly clock: Clock,
  ) {}

  of({ pod }: PodLife): number {
    const owner = controllerOf(pod);
    if (!owner) return 1;
    const now = this.clock.now();
    if (now !== this.#moment) this.#counts.clear();
    this.#moment = now;
    return getOrInsert(this.#counts, owner.uid, () => this.pods.controlledBy(owner.uid).filter(isRunning).length);
  }
}

const isRunning = ({ metadata, status }: SeenPod) => status.phase === 'Running' && !metadata.deletionTimestamp;
