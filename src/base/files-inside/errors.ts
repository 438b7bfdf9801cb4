/** A path leads out of its root, through too many links, or into a file system of the kernel. */
export class PathInsideError extends Error {
  override readonly name = 'PathInsideError';
}

/** A file has more bytes than its reader accepts. */
export class FileTooLargeError extends Error {
  override readonly name = 'FileTooLargeError';
}

/** Directories are nested deeper than a walk goes. */
export class TreeTooDeepError extends Error {
  override readonly name = 'TreeTooDeepError';
}
