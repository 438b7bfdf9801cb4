import { PatchError } from './patch-error.ts';

/**
 * Limits the work of applying one patch. Each of its parts may touch something much larger than itself (shift a list, copy
 * an object), so that a patch of a few megabytes could otherwise run for minutes.
 */
export class PatchWork {
  #left: number;

  constructor(
    max: number,
    private readonly advice: string,
  ) {
    this.#left = max;
  }

  /** Throws a PatchError when the patch has done too much. */
  spend(work: number): void {
    this.#left -= work;
    if (this.#left < 0) throw new PatchError('RequestEntityTooLarge', `Request entity too large: ${this.advice}`);
  }
}
