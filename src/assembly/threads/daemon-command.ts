/** The command that starts the network daemon of a cluster, and what identifies its release. */
import { join } from 'node:path';
import { daemonRelease } from './daemon-release.ts';

/** Defined by the build; absent when the sources run directly. */
declare const DAEMON_NAME: string | undefined;

/** A zone of 50,000 names, the rules of 5,000 Ingresses and what clients make it remember take less than half. */
const HEAP_FLAGS = ['--max-old-space-size=256', '--max-semi-space-size=4'];

export interface DaemonCommand {
  readonly command: readonly string[];
  readonly release: string;
}

/** Undefined when the sources run directly: the daemon is a program of its own. */
export function daemonCommand(directory: string): DaemonCommand | undefined {
  if (typeof DAEMON_NAME === 'undefined') return undefined;
  return {
    command: [process.execPath, ...HEAP_FLAGS, join(__dirname, DAEMON_NAME), directory],
    release: daemonRelease(DAEMON_NAME),
  };
}

/** Below the data directory of a cluster. */
export const daemonDirectory = (dataDirectory: string) => join(dataDirectory, 'network');
