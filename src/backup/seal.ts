/** Encryption of whole files, in the format of age (https://age-encryption.org/v1): `age` and `rage` open what is sealed here. */

/** Suffix of the names of sealed files. */
export const SEALED_SUFFIX = '.age';

export interface Seal {
  sealed(content: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
}

export interface Unseal {
  /** Throws a SealError for the wrong key, and for a file that is damaged or ends too early. */
  opened(content: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
}

/** Causes: `Key` (the passphrase or identity does not open the file, or cannot be used), `Damaged` (the file is not whole). */
export type SealProblem = 'Key' | 'Damaged';

export class SealError extends Error {
  constructor(
    readonly problem: SealProblem,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'SealError';
  }
}
