/** A path that leads out of its root, through too many links, or into a kernel file system. */
export class PathInsideError extends Error {
  override readonly name = 'PathInsideError';
}

/** A file that exceeds the size limit of its reader. */
export class FileTooLargeError extends Error {
  override readonly name = 'FileTooLargeError';
}

/** Directories nested deeper than the limit of a walk. */
export class TreeTooDeepError extends Error {
  override readonly name = 'TreeTooDeepError';
}
