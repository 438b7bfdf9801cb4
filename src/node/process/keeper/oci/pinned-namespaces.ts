/**
 * Namespaces of a pod that stay without a process: each is mounted on a file, as `ip netns` and containerd do it. That takes a quarter of
 * the time of a container that waits, and leaves nothing that could be killed, traced or read through `/proc`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectoriesSync } from '../../../../base/files/own/make-directories.ts';
import { programText } from '../../../../base/programs/program-text.ts';
import { runProgram } from '../../../../base/programs/run-program.ts';
import { RuntimeError } from '../../../runtime/errors.ts';
import type { SandboxConfig } from '../../../runtime/sandbox-config.ts';
import type { Programs } from '../machine.ts';

type Name = 'user' | 'net' | 'uts' | 'ipc';

const PATH = '/usr/sbin:/usr/bin:/sbin:/bin';
/** Says that the namespaces exist, and keeps them until they are mounted. It can do nothing in them: its user is not mapped. */
const WAIT = 'echo; read -r end';
const MOUNT_AND_ENTER = programText(new URL('./pin-namespaces.sh', import.meta.url));

export class PinnedNamespaces {
  /** The directory is on this boot only. */
  constructor(
    private readonly directory: string,
    private readonly programs: Programs,
  ) {}

  /** A process namespace ends with its first process, and only a runtime checks the settings of the kernel that a pod asks for. */
  canHold({ namespaces, sysctls }: SandboxConfig): boolean {
    const { unshare, nsenter, mount, umount, hostname } = this.programs;
    const isInstalled = [unshare, nsenter, mount, umount, hostname].every((program) => program !== undefined);
    return (
      isInstalled && namespaces.pid !== 'pod' && Object.keys(sysctls).length === 0 && namesOf(namespaces).length > 0
    );
  }

  /** Returns the directory with the files. Rejects with a RuntimeError. */
  async make(id: string, { namespaces, hostname }: SandboxConfig): Promise<string> {
    const directory = join(this.directory, id);
    const names = namesOf(namespaces);
    makeDirectoriesSync(directory, 0o700);
    for (const name of names) writeFileSync(join(directory, name), '');
    const child = spawn(this.programs.unshare!, [...names.map((name) => `--${name}`), '/bin/sh', '-c', WAIT], {
      stdio: ['pipe', 'pipe', 'ignore'],
      env: {},
    });
    const ended = once(child, 'exit');
    child.stdin.on('error', () => undefined);
    try {
      const isMade = await Promise.race([once(child.stdout, 'data').then(() => true), ended.then(() => false)]);
      if (!isMade) throw new Error('unshare failed');
      const maps = (namespaces.user ?? [])
        .map((each) => `${each.containerId} ${each.hostId} ${each.length}\n`)
        .join('');
      for (const file of namespaces.user ? ['uid_map', 'gid_map'] : [])
        writeFileSync(`/proc/${child.pid}/${file}`, maps);
      const args = [String(child.pid), directory, hostname, ...names];
      await runProgram(['/bin/sh', '-c', MOUNT_AND_ENTER, 'sh', ...args], { path: PATH });
    } catch (error) {
      await this.remove(id);
      throw new RuntimeError('Unknown', `making the namespaces of the pod: ${(error as Error).message}`);
    } finally {
      child.stdin.end();
      await ended;
    }
    return directory;
  }

  /** Nothing happens if there are none. */
  async remove(id: string): Promise<void> {
    const directory = join(this.directory, id);
    const files = namesIn(directory).map((name) => join(directory, name));
    if (files.length > 0) await runProgram([this.programs.umount!, ...files]).catch(() => undefined);
    rmSync(directory, { recursive: true, force: true });
  }

  async removeUnknown(known: ReadonlySet<string>): Promise<void> {
    const unknown = namesIn(this.directory).filter((id) => !known.has(id));
    await Promise.all(unknown.map((id) => this.remove(id)));
  }

  removeAll(): Promise<void> {
    return this.removeUnknown(new Set());
  }
}

/** Names the namespaces that the containers of a pod share, but not with the node. */
function namesOf({ user, network, ipc }: SandboxConfig['namespaces']): Name[] {
  return [
    ...(user ? (['user'] as const) : []),
    ...(network === 'pod' ? (['net', 'uts'] as const) : []),
    ...(ipc === 'pod' ? (['ipc'] as const) : []),
  ];
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
