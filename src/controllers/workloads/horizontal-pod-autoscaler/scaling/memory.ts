/** What has to be kept between looks at autoscalers. A restart forgets it: then sizes shrink a little later. */
import { deepEqual } from '../../../../base/tree.ts';
import type { DeepReadonly } from '../../../../client/object-types.ts';
import type { HorizontalPodAutoscaler } from '../../../../kinds/groups/autoscaling/horizontal-pod-autoscaler.ts';
import { NOTHING_REMEMBERED, type Remembered } from './remembered.ts';

type Autoscaler = DeepReadonly<HorizontalPodAutoscaler>;

/** Autoscalers look again after so many milliseconds. */
export const PERIOD = 15_000;

interface Known {
  readonly uid: string | undefined;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly spec: Autoscaler['spec'];
  readonly lookedAt: number;
  /** Of the pods that it scales, once that could be read. */
  selector: string;
  remembered: Remembered;
}

/** Another autoscaler of the namespace, with the pods that it scales. */
export interface Rival {
  readonly name: string;
  readonly selector: string;
}

export class Memory {
  readonly #known = new Map<string, Known>();

  /** How many milliseconds until it is time to look again; 0 for one that is new or asks for something else now. */
  dueIn(key: string, { metadata, spec }: Autoscaler, now: number): number {
    const known = this.#known.get(key);
    if (!known || known.uid !== metadata.uid || !deepEqual(known.spec, spec)) return 0;
    return Math.max(0, known.lookedAt + PERIOD - now);
  }

  /** It is looked at now. `selector` is empty where the target could not be read. */
  look(key: string, { metadata, spec }: Autoscaler, { selector, now }: { selector: string; now: number }): void {
    const { uid, namespace, name = '' } = metadata;
    const before = this.#known.get(key);
    const same = before?.uid === uid ? before : undefined;
    this.#known.set(key, {
      ...{ uid, namespace, name, spec, lookedAt: now },
      selector: selector || (same?.selector ?? ''),
      remembered: same?.remembered ?? NOTHING_REMEMBERED,
    });
  }

  remembered(key: string): Remembered {
    return this.#known.get(key)?.remembered ?? NOTHING_REMEMBERED;
  }

  remember(key: string, remembered: Remembered): void {
    const known = this.#known.get(key);
    if (known) known.remembered = remembered;
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
