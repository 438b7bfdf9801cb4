/** The programs of the node that start containers: a pod that runs `/proc/self/exe` cannot change them. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { BUSYBOX } from '../../runtimes/world.ts';
import { loadAttacker } from '../attacker-image.ts';
import { attack, type Lab, promised, start, tryToRun, volume } from '../lab.ts';

const PROGRAMS = [
  'runc',
  'crun',
  'containerd-shim-runc-v2',
  'env',
  'setpriv',
  'nsenter',
  'unshare',
  'sh',
  'script',
  'perl',
];

/** Everything that a change leaves behind. */
function programsOfNode(): Record<string, unknown> {
  const found = execFileSync('sh', [
    '-c',
    'for p; do command -v "$p"; done; true',
    'sh',
    ...PROGRAMS,
    process.execPath,
  ]);
  const paths = String(found).trim().split('\n');
  return Object.fromEntries(
    paths.map((path) => {
      const { mode, uid, gid, size, ctimeMs, mtimeMs } = statSync(path);
      return [path, { mode, uid, gid, size, ctimeMs, mtimeMs }];
    }),
  );
}

/** Leaves the mode as it is: where the attack succeeds, only the time of the last change tells. */
const CHANGE = ['chmod', 'a+rx'];
/** For programs that run others, for interpreters, and for an OCI runtime. */
const ARGUMENTS = [[...CHANGE, '/proc/self/exe'], ['-e', 'chmod 0755, "/proc/self/exe"'], ['init'], ['--version']];

export function describeOwnProgram(lab: Lab): void {
  promised(lab)('is not changed by a command /proc/self/exe', async () => {
    const before = programsOfNode();
    await Promise.all(
      ARGUMENTS.map(async (args) => {
        await tryToRun(lab, { command: ['/proc/self/exe', ...args] });
      }),
    );
    expect(programsOfNode()).toEqual(before);
  });

  promised(lab)('is not changed while further commands are started', async () => {
    const before = programsOfNode();
    // Attacks every program that appears, as long as the container runs.
    const script = `echo up; while :; do for p in /proc/[0-9]*; do ${CHANGE.join(' ')} $p/exe; done 2>/dev/null; sleep 0.01; done`;
    const { id } = await attack(lab, script);
    const { runtime } = lab.world();
    for (const args of ARGUMENTS) {
      const command = ['/proc/self/exe', ...args];
      await runtime.run(id, { command, timeoutMs: 10_000, maxBytes: 1000 }).catch(() => undefined);
    }
    await runtime.stopContainer(id, 0);
    expect(programsOfNode()).toEqual(before);
  });

  promised(lab, 'containers')('is not changed by a script whose interpreter is /proc/self/exe', async () => {
    const before = programsOfNode();
    const bytes = Buffer.from('#!/proc/self/exe\nchmod 0755, "/proc/self/exe";\n');
    const files = ['/bin/attack', '/bin/true'].map((path) => ({ type: 'bytes', path, bytes, mode: 0o755 }) as const);
    const image = await loadAttacker(lab.world(), 'interpreted', { files });
    await tryToRun(lab, { ...image, command: ['/bin/attack'] });
    const { id } = await start(lab, { ...image, command: ['sleep', '1000'] });
    const run = { command: ['/bin/attack', ...ARGUMENTS[0]!], timeoutMs: 10_000, maxBytes: 1000 };
    await lab
      .world()
      .runtime.run(id, run)
      .catch(() => undefined);
    expect(programsOfNode()).toEqual(before);
  });

  promised(lab, 'containers')('would be changed if it were a file that the pod may change', async () => {
    const folder = await lab.world().folder('programs');
    const program = join(folder, 'busybox');
    copyFileSync(BUSYBOX, program);
    // Root of a pod with a user namespace owns the files of its volumes.
    execFileSync('chown', ['--reference', folder, program]);
    const command = ['/programs/busybox', 'chmod', '700', '/proc/self/exe'];
    await (await start(lab, { command, mounts: [volume(folder, '/programs')] })).ended();
    expect(statSync(program).mode & 0o7777).toBe(0o700);
  });
}
