/** Why a patch cannot be applied. */
export class PatchError extends Error {
  override readonly name = 'PatchError';

  /** `BadRequest`: this is no patch. `Invalid`: it does not fit the object. */
  constructor(
    readonly reason: 'BadRequest' | 'Invalid' | 'RequestEntityTooLarge',
    message: string,
  ) {
    super(message);
  }
}

/** How deep a patch may nest, and what it makes. */
const MAX_DEPTH = 1000;

/** Called on the way down. */
export function checkDepth(depth: number): void {
  if (depth > MAX_DEPTH) throw new PatchError('BadRequest', 'error decoding patch: json: exceeded max depth');
}
