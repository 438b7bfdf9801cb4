import { accessSync, constants } from 'node:fs';

/** Reports whether this process may execute the file. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
