/** The failures of a runtime that the agent tells apart. All others are `Unknown`. */
export type RuntimeErrorCode =
  | 'NotFound'
  | 'ImageNotFound'
  | 'InvalidImageName'
  | 'RegistryUnavailable'
  | 'SignatureValidationFailed'
  /** The runtime cannot do what was asked for. */
  | 'Unsupported'
  /** The command or working directory does not exist or cannot be run. */
  | 'CannotRun'
  | 'DeadlineExceeded'
  /** The runtime does not answer. */
  | 'Unavailable'
  | 'Unknown';

export class RuntimeError extends Error {
  readonly code: RuntimeErrorCode;

  constructor(code: RuntimeErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'RuntimeError';
    this.code = code;
  }
}
