/** Which webhooks and policies take part in the second round of mutating admission. */
import { deepEqual } from '../../../base/json/tree.ts';
import type { KubeObject } from '../../../kinds/kind.ts';
import type { AdmissionRequest } from '../../objects/admission/request.ts';

/** What the first round of a request leaves for the second. `T` identifies a webhook or a policy. */
export class FirstRound<T> {
  /** Those that want to see what others changed after them. */
  readonly #asked = new Set<T>();
  /** Those of them after which something was changed. */
  readonly #again = new Set<T>();
  /** The object as they left it. */
  #object: KubeObject | undefined;

  /** Whether one takes part in this round. */
  includes(each: T, { isReinvocation }: AdmissionRequest): boolean {
    return !isReinvocation || this.#again.has(each);
  }

  /** One has been asked, and wants to be asked again when something is changed after it. */
  asked(each: T): void {
    this.#asked.add(each);
  }

  /** The object has been changed: those asked before may take part in the second round. */
  changed(request: AdmissionRequest): void {
    this.#requireAgain();
    request.reinvoke();
  }

  /** Plugins of the server may have changed the object since. */
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
