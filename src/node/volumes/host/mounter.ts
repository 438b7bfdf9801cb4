/** Mounts and unmounts with the programs of the system. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { readFile } from '../../../base/files/own/own-files.ts';
import { VolumeError } from '../volumes.ts';
import { type MountEntry, parseMountInfo } from './mount-table.ts';

interface MountSpec {
  readonly type: string;
  readonly source: string;
  readonly target: string;
  readonly options: readonly string[];
}

export interface Mounter {
  /** True when it can mount at all. Otherwise the other calls reject with a VolumeError. */
  readonly canMount: boolean;
  mount(spec: MountSpec): Promise<void>;
  /** Mounts a path, which may be a file, at another one. Links in `source` are not resolved. */
  bind(source: string, target: string): Promise<void>;
  /** Succeeds when nothing is mounted there. */
  unmount(target: string): Promise<void>;
  /** Returns all mounts that this process sees. */
  entries(): Promise<readonly MountEntry[]>;
}

const run = promisify(execFile);

/** A server that does not answer must not block a pod for good. */
const MOUNT_TIMEOUT_MS = 120_000;

export function hostMounter(canMount: boolean): Mounter {
  const entries = async () => parseMountInfo(await readFile('/proc/self/mountinfo', 'utf8'));
  const call = async (program: string, args: readonly string[]) => {
    if (!canMount) throw new VolumeError('the agent cannot mount, because it does not run as root');
    try {
      await run(program, [...args], { timeout: MOUNT_TIMEOUT_MS });
    } catch (error) {
      const { stderr = '' } = error as { stderr?: string };
      throw new VolumeError(`mount failed: ${stderr.trim() || (error as Error).message}`, { cause: error });
    }
  };
  return {
    canMount,
    entries,
    async mount({ type, source, target, options }) {
      const flags = options.length ? ['-o', options.join(',')] : [];
      await call('mount', ['-n', '-t', type, ...flags, '--', source, target]);
    },
    async bind(source, target) {
      await call('mount', ['-n', '--no-canonicalize', '--bind', '--', source, target]);
    },
    async unmount(target) {
      if (!(await entries()).some(({ mountPoint }) => mountPoint === target)) return;
      try {
        await call('umount', ['-n', '--', target]);
      } catch (error) {
        // Other users of the mount, for example another mount namespace, must not keep the pod's directory for good.
        await call('umount', ['-n', '-l', '--', target]).catch(() => {
          throw error;
        });
      }
    },
  };
}
