/** How many pods share a load: those of one owner that run and are wanted. */
import type { Clock } from '../../../base/clock.ts';
import { controllerOf, type Lister } from '../../../client/informer/object-cache.ts';
import type { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import type { SeenPod } from '../../pod/container-run.ts';
import type { Life } from './life.ts';

/** A question about all pods of an owner counts them once: counts hold for the moment they were made in. */
export class Sharers {
  readonly #pods: Lister<Pod>;
  readonly #clock: Clock;
  readonly #counts = new Map<string, number>();
  #moment = Number.NaN;

  constructor(pods: Lister<Pod>, clock: Clock) {
    this.#pods = pods;
    this.#clock = clock;
  }

  of({ pod }: Life): number {
    const owner = controllerOf(pod);
    if (!owner) return 1;
    const now = this.#clock.now();
    if (now !== this.#moment) this.#counts.clear();
    this.#moment = now;
    const known = this.#counts.get(owner.uid);
    if (known !== undefined) return known;
    const count = this.#pods.controlledBy(owner.uid).filter(isAtWork).length;
    this.#counts.set(owner.uid, count);
    return count;
  }
}

const isAtWork = ({ metadata, status }: SeenPod) => status.phase === 'Running' && !metadata.deletionTimestamp;
