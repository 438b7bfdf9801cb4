/** Checks of file paths in pods, with the messages of Kubernetes. */

/** A path without `..` steps. */
export function backsteps(path: string): string[] {
  return path.includes('..') && path.split('/').includes('..') ? ["must not contain '..'"] : [];
}

/** A path that stays below the directory it starts in. */
export function descendingPath(path: string): string[] {
  return path.startsWith('/') ? ['must be a relative path', ...backsteps(path)] : backsteps(path);
}

/** Names that start with two dots are reserved for the volume plugins. */
export function projectedPath(path: string): string[] {
  const complaints = descendingPath(path);
  if (path.startsWith('..') && !path.startsWith('../')) complaints.push("must not start with '..'");
  return complaints;
}
