/** Limits of memory, processor time and processes: a pod cannot raise its own. */
import { expect } from 'vitest';
import { NO_RESOURCES } from '../../runtimes/world.ts';
import { allFailed, attack, attempt, DEFAULT_SECURITY, hostUsers, type Lab, privileged, promised } from '../lab.ts';

const MEMORY = { ...NO_RESOURCES, memoryBytes: 16 * 2 ** 20 };
/** More than the limit. */
const ALLOCATE = 'x=$(head -c 40000000 /dev/zero | tr "\\000" x); echo "$x" | wc -c';
const PROCESSES = 40;

const FILES = [
  'memory.limit_in_bytes',
  'memory.max',
  'cpu.cfs_quota_us',
  'cpu.max',
  'pids.max',
  'cgroup.procs',
  'tasks',
];
const MORE = ['release_agent', 'notify_on_release', 'devices.allow', 'cgroup.subtree_control', 'cgroup.freeze'];

/** Opens one of these files for writing, of any cgroup that the pod sees. */
const writing = (file: string) =>
  `found=1; for f in $(find /sys/fs/cgroup -name ${file}); do : >>$f && found=0; done; exit $found`;
const WRITES = Object.fromEntries([...FILES, ...MORE].map((file) => [file, writing(file)]));
const MOUNTS = {
  'own namespaces': 'unshare -UrmC true',
  'cgroup v1': 'mkdir -p /tmp/c && mount -t cgroup -o memory cgroup /tmp/c',
  'cgroup v2': 'mkdir -p /tmp/c && mount -t cgroup2 cgroup /tmp/c',
  remount: 'mount -o remount,rw /sys/fs/cgroup || mount -o remount,rw /sys/fs/cgroup/memory',
  'a new cgroup': 'for d in $(find /sys/fs/cgroup -name cgroup.procs); do mkdir ${d%/*}/x && exit; done; exit 1',
};
/** Mounts the cgroups in namespaces of its own, and raises what it finds there. */
const RAISE = `
unshare -UrmC sh -c '
  mkdir -p /tmp/c
  mount -t cgroup -o memory cgroup /tmp/c || mount -t cgroup2 cgroup /tmp/c
  for f in $(find /tmp/c -name memory.limit_in_bytes -o -name memory.memsw.limit_in_bytes); do echo -1 >$f; done
  for f in $(find /tmp/c -name memory.max); do echo max >$f; done
' 2>/dev/null
${ALLOCATE}`;

export function describeLimits(lab: Lab): void {
  promised(lab, 'containers')('cannot be written', async () => {
    const attacks = { ...WRITES, ...MOUNTS };
    expect(await attempt(lab, attacks, { resources: MEMORY })).toEqual(allFailed(attacks));
    const { changes, sandbox } = privileged(lab);
    const control = { 'cgroup.procs': WRITES['cgroup.procs']! };
    expect(await attempt(lab, control, changes, sandbox)).toEqual({ 'cgroup.procs': 'done' });
  });

  promised(lab, 'containers')('of memory hold', async () => {
    const container = await attack(lab, RAISE, { resources: MEMORY });
    expect(await container.ended()).toMatchObject({ exitCode: 137, reason: 'OOMKilled' });
  });

  promised(
    lab,
    'containers',
    'limits without a filter',
  )('of memory hold without a filter of system calls', async () => {
    const security = { ...DEFAULT_SECURITY, seccomp: { type: 'unconfined' } as const };
    const container = await attack(lab, RAISE, { resources: MEMORY, security }, hostUsers(lab));
    expect(await container.ended()).toMatchObject({ exitCode: 137, reason: 'OOMKilled' });
  });

  promised(lab, 'containers')('of memory are what ends the allocation', async () => {
    expect(await (await attack(lab, ALLOCATE)).output()).toBe('40000001');
  });

  promised(lab, 'containers')('of processes hold for a pod', async () => {
    const script = `i=0; while [ $i -lt ${PROCESSES} ]; do sleep 1000 & i=$((i+1)); done; echo $i`;
    const { world } = lab;
    const limited = { ...world().sandbox(), cgroupResources: { ...NO_RESOURCES, pidsLimit: PROCESSES / 2 } };
    expect(await (await attack(lab, script, {}, limited)).output()).toBe('');
    expect(await (await attack(lab, script)).output()).toBe(String(PROCESSES));
  });
}
