/** The file into which an OCI runtime writes the id of a process, once it runs. */
import { readFileSync, watch } from 'node:fs';
import { join } from 'node:path';

export const PID_FILE = 'pid';

/** Undefined if there is none (yet). */
export function readPid(directory: string): number | undefined {
  try {
    return Number(readFileSync(join(directory, PID_FILE), 'utf8')) || undefined;
  } catch {
    return undefined;
  }
}

/** Calls `onPid` once, when the file is there. Returns how to stop waiting. */
export function onPidFile(directory: string, onPid: (pid: number) => void): () => void {
  let isDone = false;
  const stop = () => {
    isDone = true;
    watcher.close();
  };
  const look = () => {
    const pid = isDone ? undefined : readPid(directory);
    if (pid === undefined) return;
    stop();
    onPid(pid);
  };
  const watcher = watch(directory, { persistent: false }, look);
  // The directory may be removed with its container.
  watcher.on('error', stop);
  look();
  return stop;
}
