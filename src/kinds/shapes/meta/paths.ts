/** What is wrong with file paths that a pod names, in the words of the API. */

/** A path may lead anywhere, but not back up. */
export function backsteps(path: string): string[] {
  return path.includes('..') && path.split('/').includes('..') ? ["must not contain '..'"] : [];
}

/** A path that stays below the directory it starts in. */
export function descendingPath(path: string): string[] {
  return path.startsWith('/') ? ['must be a relative path', ...backsteps(path)] : backsteps(path);
}

/** Names that begin with two dots belong to whoever writes the volume. */
export function projectedPath(path: string): string[] {
  const complaints = descendingPath(path);
  if (path.startsWith('..') && !path.startsWith('../')) complaints.push("must not start with '..'");
  return complaints;
}
