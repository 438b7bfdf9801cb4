/** Writes to /proc and /sys, what is masked there, and mounts that would undo the masks. */

import { readFileSync } from 'node:fs';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { MASKED_PATHS } from '../../../src/node/container/security/security.ts';
import { allFailed, attack, attempt, type Lab, privileged, promised, scratchOfNode, tryToRun, volume } from '../lab.ts';

/** Opening them changes nothing. */
const NODE_SETTINGS = [
  '/proc/sys/kernel/core_pattern',
  '/proc/sys/kernel/modprobe',
  '/proc/sys/kernel/randomize_va_space',
  '/proc/sys/vm/panic_on_oom',
  '/proc/sys/fs/binfmt_misc/register',
  '/proc/sysrq-trigger',
  '/proc/irq/default_smp_affinity',
  '/proc/mtrr',
  '/sys/kernel/mm/ksm/run',
  '/sys/kernel/mm/transparent_hugepage/enabled',
  '/sys/kernel/uevent_helper',
  '/sys/kernel/uevent_seqnum',
  '/sys/power/state',
  '/sys/module/printk/parameters/time',
];
const MAIN_SETTING = '/proc/sys/kernel/core_pattern';

const writing = (path: string) => `: >>${path}`;
const written = (paths: readonly string[]) => Object.fromEntries(paths.map((path) => [path, writing(path)]));

export function describeKernelFiles(lab: Lab): void {
  const settings = written(NODE_SETTINGS);

  promised(lab)('that change the node cannot be written', async () => {
    const before = readFileSync(MAIN_SETTING, 'utf8');
    expect(await attempt(lab, settings)).toEqual(allFailed(settings));
    expect(readFileSync(MAIN_SETTING, 'utf8')).toBe(before);
  });

  promised(lab, 'containers')('can be written by a privileged container', async () => {
    const { changes, sandbox } = privileged(lab);
    const control = written([MAIN_SETTING]);
    expect(await attempt(lab, control, changes, sandbox)).toEqual({ [MAIN_SETTING]: 'done' });
  });

  promised(lab, 'containers')('cannot be mounted again, nor uncovered', async () => {
    const attacks = {
      'a new /proc': 'mkdir -p /tmp/p && mount -t proc proc /tmp/p',
      'a new /sys': 'mkdir -p /tmp/s && mount -t sysfs sysfs /tmp/s',
      'remount /proc/sys': 'mount -o remount,rw,bind /proc/sys',
      'remount /sys': 'mount -o remount,rw /sys',
      'unmount /proc/sys': 'umount /proc/sys',
      'unmount a mask': 'umount /proc/kcore || umount /proc/keys',
      'bind of /proc': 'mkdir -p /tmp/b && mount -o bind /proc/sys /tmp/b',
      debugfs: 'mkdir -p /tmp/d && mount -t debugfs debugfs /tmp/d',
    };
    expect(await attempt(lab, attacks)).toEqual(allFailed(attacks));
    const { changes, sandbox } = privileged(lab);
    const control = { 'a new /proc': attacks['a new /proc'] };
    expect(await attempt(lab, control, changes, sandbox)).toEqual({ 'a new /proc': 'done' });
  });

  promised(lab, 'containers')('that are masked show nothing', async () => {
    // A directory that is masked is empty, and a file has no bytes.
    const attacks = Object.fromEntries(
      MASKED_PATHS.map((path) => [path, `[ -n "$(ls -A ${path}/ 2>/dev/null || head -c 1 ${path} | od -An -c)" ]`]),
    );
    expect(await attempt(lab, attacks)).toEqual(allFailed(attacks));
    const { changes, sandbox } = privileged(lab);
    const control = { '/proc/interrupts': attacks['/proc/interrupts']! };
    expect(await attempt(lab, control, changes, sandbox)).toEqual({ '/proc/interrupts': 'done' });
  });

  promised(lab, 'containers')('are not uncovered by a volume at /dev with links in place of devices', async () => {
    const folder = await lab.world().folder('hostile-dev');
    await symlink(MAIN_SETTING, join(folder, 'null')).catch(() => undefined);
    const attacks = Object.fromEntries(
      [...MASKED_PATHS, '/dev/null', MAIN_SETTING].map((path) => [path, `[ -f ${path} ] && : >>${path}`]),
    );
    const tries = Object.entries(attacks).map(([name, command]) => `if ${command}; then echo "${name}"; fi`);
    const command = ['sh', '-c', tries.join('\n')];
    const found = await tryToRun(lab, { command, mounts: [volume(folder, '/dev')] });
    expect(found instanceof Error ? '' : found).toBe('');
  });

  promised(lab, 'containers')('are not covered by volumes of a pod', async () => {
    const folder = await lab.world().folder('covering');
    for (const path of ['/proc', '/proc/sys']) {
      const found = await tryToRun(lab, { command: ['true'], mounts: [volume(folder, path)] });
      expect(found, path).toBeInstanceOf(Error);
    }
  });

  promised(lab, 'containers')('lead to no files of the node through links of processes', async () => {
    const scratch = scratchOfNode();
    const script = `for p in /proc/[0-9]* /proc/self /proc/thread-self; do ls -d $p/root/bin $p/root${scratch} $p/cwd${scratch} $p/fd/*${scratch}; done 2>/dev/null`;
    const listing = await (await attack(lab, script)).output();
    expect(listing).toContain('/root/bin');
    expect(listing).not.toContain(scratch);
  });
}
