/** Contract of a place for backup files: a directory, or a bucket. */

export interface TargetFile {
  readonly name: string;
  readonly bytes: number;
  /** Milliseconds since the epoch, by the clock of the target. */
  readonly modified: number;
}

/** A part of a file. */
export interface ByteRange {
  /** Offset of the first byte. */
  readonly from: number;
  /** Offset behind the last byte. Default: the end of the file. */
  readonly until?: number | undefined;
}

export interface BackupTarget {
  /** Name for messages: a path, or s3://bucket/prefix. */
  readonly name: string;
  /** Lists complete files, sorted by name. Empty when the directory does not exist yet. */
  list(signal?: AbortSignal): Promise<readonly TargetFile[]>;
  /**
   * Stores a file whole or not at all: nobody sees part of it under its name. It replaces a file with the same name. Nothing is left
   * when the content or the signal fails.
   */
  put(name: string, content: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<void>;
  /** Streams a file, or a part of it. Fails when the target delivers less than it announced. */
  get(name: string, range?: ByteRange, signal?: AbortSignal): AsyncIterable<Uint8Array>;
  /** Removes a file. A missing one is no error. */
  remove(name: string, signal?: AbortSignal): Promise<void>;
  /** Removes what killed programs left behind: temporary files, unfinished uploads. */
  tidy(options?: TidyOptions): Promise<void>;
}

export interface TidyOptions {
  /** True when nobody else writes to the target: new leftovers go, too. Otherwise only those that are too old to be in use. */
  readonly isAlone?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Causes: `NotFound` (a file), `Invalid` (a name, the settings), `Denied` (credentials, permissions), `Full` (no space left),
 * `Unavailable` (network, server, disk: another attempt may succeed).
 */
export type TargetProblem = 'NotFound' | 'Invalid' | 'Denied' | 'Full' | 'Unavailable';

export class TargetError extends Error {
  constructor(
    readonly problem: TargetProblem,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'TargetError';
  }
}

/** Letters, digits, dots, hyphens and underscores, not starting with a dot or a hyphen: one component of a path everywhere. */
const FILE_NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,254}$/;

export function isFileName(name: string): boolean {
  return FILE_NAME.test(name);
}

export function checkFileName(name: string): void {
  if (isFileName(name)) return;
  throw new TargetError(
    'Invalid',
    `the name of a backup file has 1 to 255 letters, digits, ".", "-" and "_", and starts with a letter or digit; found ${JSON.stringify(name.slice(0, 100))}`,
  );
}
