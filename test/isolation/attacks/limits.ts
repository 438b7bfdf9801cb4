/** Limits of memory, processor time and processes: a pod cannot raise its own. */
import { expect } from 'vitest';
import { NO_RESOURCES } from '../../runtimes/world.ts';
import { allFailed, attack, attempt, DEFAULT_SECURITY, hostUsers, type Lab, privileged, promised } from '../lab.ts';

const MEMORY = { ...NO_RESOURCES, memoryBytes: 16 * 2 ** 20 };
/** More than the limit. */
const ALLOCATE = `exec perl -e 'print length("x" x 60_000_000)'`;
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
  'own namespaces': 'unshare -Urm true',
  'cgroup v1': 'mkdir -p /tmp/c && mount -t cgroup -o memory cgroup /tmp/c',
  'cgroup v2': 'mkdir -p /tmp/c && mount -t cgroup2 cgroup /tmp/c',
  remount: 'mount -o remount,rw /sys/fs/cgroup || mount -o remount,rw /sys/fs/cgroup/memory',
  'a new cgroup': 'for d in $(find /sys/fs/cgroup -name cgroup.procs); do mkdir $(dirname $d)/x && exit; done; exit 1',
};
/** Runs a shell command in user, mount and cgroup namespaces of its own, as root there. */
const IN_NAMESPACES = `
syscall(${process.arch === 'arm64' ? 97 : 272}, 0x12020000) == 0 or die "$!";
for (['setgroups', 'deny'], ['uid_map', '0 0 1'], ['gid_map', '0 0 1']) {
  open my $file, '>', "/proc/self/$$_[0]" or die "$!";
  syswrite $file, $$_[1];
}
exec 'sh', '-c', $ARGV[0]`;
/** Mounts cgroups, and raises the limits that it finds there. */
const RAISE = `
mkdir -p /tmp/c
mount -t cgroup -o memory cgroup /tmp/c || mount -t cgroup2 cgroup /tmp/c || exit
echo mounted
for f in $(find /tmp/c -name "memory*limit_in_bytes"); do echo -1 >$f; done
for f in $(find /tmp/c -name memory.max); do echo max >$f; done
true`;
/** Both are in the environment of the attacker. */
const RAISE_AND_ALLOCATE = `perl -e "$IN_NAMESPACES" "$RAISE" 2>/dev/null; ${ALLOCATE}`;
const WITH_PROGRAMS = {
  resources: MEMORY,
  env: [
    { name: 'IN_NAMESPACES', value: IN_NAMESPACES },
    { name: 'RAISE', value: RAISE },
  ],
};

export function describeLimits(lab: Lab): void {
  promised(lab, 'containers')('cannot be written', async () => {
    const attacks = { ...WRITES, ...MOUNTS };
    expect(await attempt(lab, attacks, { resources: MEMORY })).toEqual(allFailed(attacks));
    const { changes, sandbox } = privileged(lab);
    const control = { 'cgroup.procs': WRITES['cgroup.procs']! };
    expect(await attempt(lab, control, changes, sandbox)).toEqual({ 'cgroup.procs': 'done' });
  });

  promised(lab, 'containers')('of memory hold', async () => {
    const container = await attack(lab, RAISE_AND_ALLOCATE, WITH_PROGRAMS);
    expect(await container.ended()).toMatchObject({ exitCode: 137, reason: 'OOMKilled' });
  });

  promised(
    lab,
    'containers',
    'limits without a filter',
  )('of memory hold without a filter of system calls', async () => {
    const security = { ...DEFAULT_SECURITY, seccomp: { type: 'unconfined' } as const };
    const container = await attack(lab, RAISE_AND_ALLOCATE, { ...WITH_PROGRAMS, security }, hostUsers(lab));
    expect(await container.ended()).toMatchObject({ exitCode: 137, reason: 'OOMKilled' });
  });

  promised(lab, 'containers')('of memory are what ends the allocation', async () => {
    expect(await (await attack(lab, ALLOCATE)).output()).toBe('60000000');
  });

  promised(lab, 'containers')('of processes hold for a pod', async () => {
    const script = `i=0; while [ $i -lt ${PROCESSES} ]; do sleep 1000 & i=$((i+1)); done; echo $i`;
    const { world } = lab;
    const limited = { ...world().sandbox(), cgroupResources: { ...NO_RESOURCES, pidsLimit: PROCESSES / 2 } };
    expect(await (await attack(lab, script, {}, limited)).output()).toBe('');
    expect(await (await attack(lab, script)).output()).toBe(String(PROCESSES));
  });
}
