import { accessSync, constants } from 'node:fs';

/** Whether this process could run the file. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
