/** Selects the webhooks and policies for the second round of mutating admission. */
import { deepEqual } from '../../../base/json/tree.ts';
import type { KubeObject } from '../../../kinds/kind.ts';
import type { AdmissionRequest } from '../../objects/admission/request.ts';

/** The state that the first round of a request leaves for the second. `T` identifies a webhook or a policy. */
export class FirstRound<T> {
  /** Participants that want to see later changes. */
  readonly #asked = new Set<T>();
  /** Participants after which the object changed. */
  readonly #again = new Set<T>();
  /** The object as the participants left it. */
  #object: KubeObject | undefined;

  /** Reports whether a webhook or policy takes part in this round. */
  includes(each: T, { isReinvocation }: AdmissionRequest): boolean {
    return !isReinvocation || this.#again.has(each);
  }

  /** Records a participant that wants to be called again when the object changes after it. */
  asked(each: T): void {
    this.#asked.add(each);
  }

  /** Records a change of the object: participants before it may take part in the second round. */
  changed(request: AdmissionRequest): void {
    this.#requireAgain();
    request.reinvoke();
  }

  /** Detects changes that plugins of the server have made since. */
  compare({ object }: AdmissionRequest): void {
    if (!deepEqual(this.#object, object)) this.#requireAgain();
  }

  ended({ object }: AdmissionRequest): void {
    this.#object = object && structuredClone(object);
  }

  #requireAgain(): void {
    for (const each of this.#asked) this.#again.add(each);
    this.#asked.clear();
  }
}

/** The rounds of requests, for one plugin. */
export class Rounds<T> {
  readonly #rounds = new WeakMap<AdmissionRequest, FirstRound<T>>();

  of(request: AdmissionRequest): FirstRound<T> {
    const known = this.#rounds.get(request);
    if (known) {
      if (request.isReinvocation) known.compare(request);
      return known;
    }
    const round = new FirstRound<T>();
    this.#rounds.set(request, round);
    return round;
  }
}
