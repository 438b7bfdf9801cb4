/** A patch that cannot be applied. */
export class PatchError extends Error {
  override readonly name = 'PatchError';
  readonly #redacted: string;

  /** `BadRequest`: the patch is malformed. `Invalid`: it does not apply to the object. */
  constructor(
    readonly reason: 'BadRequest' | 'Invalid' | 'RequestEntityTooLarge',
    message: string,
    redacted = message,
  ) {
    super(message);
    this.#redacted = redacted;
  }

  /** The message without parts of the patch or the object. */
  get redacted(): string {
    return this.#redacted;
  }
}

/** The `test` operation of a JSON patch found another value. */
export class PatchTestError extends PatchError {
  constructor(path: string) {
    super('Invalid', `testing value ${path} failed: test failed`);
  }
}

/** Maximum depth of a patch and of its result. */
const MAX_DEPTH = 1000;

/** Throws when a walk has become too deep. */
export function checkDepth(depth: number): void {
  if (depth > MAX_DEPTH) throw new PatchError('BadRequest', 'error decoding patch: json: exceeded max depth');
}
