/** State that is kept between evaluations. After a restart, sizes shrink a little later. */

import type { DeepReadonly } from '../../../../api/object-types.ts';
import { deepEqual } from '../../../../base/json/tree.ts';
import type { HorizontalPodAutoscaler } from '../../../../kinds/groups/autoscaling/horizontal-pod-autoscaler.ts';
import { NO_HISTORY, type ScalingHistory } from './limit.ts';

type Autoscaler = DeepReadonly<HorizontalPodAutoscaler>;

/** Autoscalers are evaluated at this interval. */
export const EVALUATION_INTERVAL_MS = 15_000;

interface Known {
  readonly uid: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly spec: Autoscaler['spec'];
  readonly evaluatedAt: number;
  /** Selector of the target's pods, once that was read. */
  selector: string;
  history: ScalingHistory;
}

/** Another autoscaler of the namespace, with the selector of its pods. */
export interface Rival {
  readonly name: string;
  readonly selector: string;
}

export class Memory {
  readonly #known = new Map<string, Known>();

  /** Returns the milliseconds until the next evaluation; 0 for one that is new or has changed. */
  dueIn(key: string, { metadata, spec }: Autoscaler, now: number): number {
    const known = this.#known.get(key);
    if (!known || known.uid !== metadata.uid || !deepEqual(known.spec, spec)) return 0;
    return Math.max(0, known.evaluatedAt + EVALUATION_INTERVAL_MS - now);
  }

  /** Records an evaluation. `selector` is empty when the target could not be read. */
  look(key: string, { metadata, spec }: Autoscaler, { selector, now }: { selector: string; now: number }): void {
    const { uid, namespace, name = '' } = metadata;
    const before = this.#known.get(key);
    const same = before?.uid === uid ? before : undefined;
    this.#known.set(key, {
      uid,
      namespace,
      name,
      spec,
      evaluatedAt: now,
      selector: selector || (same?.selector ?? ''),
      history: same?.history ?? NO_HISTORY,
    });
  }

  history(key: string): ScalingHistory {
    return this.#known.get(key)?.history ?? NO_HISTORY;
  }

  remember(key: string, history: ScalingHistory): void {
    const known = this.#known.get(key);
    if (known) known.history = history;
  }

  rivals({ metadata }: Autoscaler): readonly Rival[] {
    return [...this.#known.values()].filter(
      ({ namespace, name, selector }) => selector !== '' && namespace === metadata.namespace && name !== metadata.name,
    );
  }

  forget(key: string): void {
    this.#known.delete(key);
  }
}
