/** Handles the rejection of a call for a file that does not exist, which then returns undefined. */
export function ifMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}
