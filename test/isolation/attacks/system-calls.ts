/** System calls that the default filter rejects before the kernel looks at their arguments: namespaces, tracing, keyrings and more. */
import { expect } from 'vitest';
import { allFailed, attempt, DEFAULT_SECURITY, type Lab, promised, start } from '../lab.ts';

const EPERM = 1;
const ENOSYS = 38;
const NEW_USER = 0x10000000;
const NEW_MOUNT = 0x20000;
const CHILD_SIGNAL = 17;
const ATTACH = 16;

interface SystemCall {
  readonly x64: number;
  readonly arm64: number;
  readonly args: readonly number[];
}

/** With arguments that do no harm where a call is allowed. */
const NAMESPACES: Readonly<Record<string, SystemCall>> = {
  'clone of users': { x64: 56, arm64: 220, args: [NEW_USER | CHILD_SIGNAL, 0, 0, 0, 0] },
  'unshare of users': { x64: 272, arm64: 97, args: [NEW_USER] },
  'unshare of mounts': { x64: 272, arm64: 97, args: [NEW_MOUNT] },
  clone3: { x64: 435, arm64: 435, args: [0, 0] },
  setns: { x64: 308, arm64: 268, args: [-1, 0] },
};
const KEYRINGS: Readonly<Record<string, SystemCall>> = {
  // The id of the session keyring.
  keyctl: { x64: 250, arm64: 219, args: [0, -3, 0] },
  add_key: { x64: 248, arm64: 217, args: [0, 0, 0, 0, 0] },
  request_key: { x64: 249, arm64: 218, args: [0, 0, 0, 0] },
};
const KERNEL: Readonly<Record<string, SystemCall>> = {
  bpf: { x64: 321, arm64: 280, args: [-1, 0, 0] },
  perf_event_open: { x64: 298, arm64: 241, args: [0, 0, 0, 0, 0] },
  userfaultfd: { x64: 323, arm64: 282, args: [-1] },
  open_by_handle_at: { x64: 304, arm64: 265, args: [-1, 0, 0] },
  mount: { x64: 165, arm64: 40, args: [0, 0, 0, 0, 0] },
  fsopen: { x64: 430, arm64: 430, args: [0, 0] },
  pivot_root: { x64: 155, arm64: 41, args: [0, 0] },
  init_module: { x64: 175, arm64: 105, args: [0, 0, 0] },
  kexec_load: { x64: 246, arm64: 104, args: [0, 0, 0, -1] },
};
const DEBUGGING: Readonly<Record<string, SystemCall>> = {
  ptrace: { x64: 101, arm64: 117, args: [ATTACH, 0, 0, 0] },
  process_vm_readv: { x64: 310, arm64: 270, args: [0, 0, 0, 0, 0, 0] },
  kcmp: { x64: 312, arm64: 272, args: [0, 0, 0, 0, 0] },
  pidfd_getfd: { x64: 438, arm64: 438, args: [-1, -1, 0] },
  io_uring_setup: { x64: 425, arm64: 425, args: [0, 0] },
};
/** To the kernel's cryptography and to the hypervisor. The kernel takes only 32 bits of the family. */
const SOCKETS: Readonly<Record<string, SystemCall>> = Object.fromEntries(
  [38, 40].flatMap((family) =>
    [family, 2 ** 32 + family].map((value) => [`socket ${value}`, { x64: 41, arm64: 198, args: [value, 1, 0] }]),
  ),
);
/** Without a filter, they fail otherwise or not at all, whatever the rights of the caller. */
const CONTROL = ['unshare of users', 'clone of users', 'clone3', 'setns', 'keyctl', 'add_key', 'ptrace', 'pidfd_getfd'];

/** Prints a name and an error number for each triple of arguments. */
const PROGRAM = `
$| = 1;
while (@ARGV) {
  my ($name, $number, $args) = splice @ARGV, 0, 3;
  my $result = syscall($number, map { $_ + 0 } split / /, $args);
  my $error = $result == -1 ? $! + 0 : 0;
  exit 0 if $name =~ /clone of/ && $result == 0;
  print "$name=$error\\n";
}`;

type Errors = Record<string, number>;

async function errorsOf(
  lab: Lab,
  calls: Readonly<Record<string, SystemCall>>,
  security = DEFAULT_SECURITY,
): Promise<Errors> {
  const triples = Object.entries(calls).flatMap(([name, { args, x64, arm64 }]) => [
    ...[name, String(process.arch === 'arm64' ? arm64 : x64), args.join(' ')],
  ]);
  const container = await start(lab, { command: ['perl', '-e', PROGRAM, ...triples], security });
  const lines = (await container.output()).split('\n').map((line) => line.split('='));
  return Object.fromEntries(lines.map(([name, error]) => [name, Number(error)]));
}

/** Calls with another error than that of a filter. */
const passed = (errors: Errors) => Object.keys(errors).filter((name) => ![EPERM, ENOSYS].includes(errors[name]!));

export function describeSystemCalls(lab: Lab): void {
  const always = { ...NAMESPACES, ...KEYRINGS, ...KERNEL };

  promised(lab, 'containers')('for namespaces, keyrings and the kernel are rejected', async () => {
    const errors = await errorsOf(lab, always);
    expect(Object.keys(errors)).toEqual(Object.keys(always));
    expect(passed(errors)).toEqual([]);
  });

  promised(
    lab,
    'containers',
    'no debugging',
  )('for debuggers are rejected', async () => {
    const errors = await errorsOf(lab, DEBUGGING);
    expect(Object.keys(errors)).toEqual(Object.keys(DEBUGGING));
    expect(passed(errors)).toEqual([]);
  });

  promised(
    lab,
    'containers',
    'no special sockets',
  )('for sockets of the hypervisor and of cryptography are rejected', async () => {
    const errors = await errorsOf(lab, SOCKETS);
    expect(Object.keys(errors)).toEqual(Object.keys(SOCKETS));
    expect(passed(errors)).toEqual([]);
  });

  promised(lab, 'containers')('are not rejected without the filter', async () => {
    const security = { ...DEFAULT_SECURITY, seccomp: { type: 'unconfined' } as const };
    const errors = await errorsOf(lab, { ...always, ...DEBUGGING }, security);
    expect(passed(errors)).toEqual(expect.arrayContaining(CONTROL));
  });

  promised(lab, 'containers')('are filtered in further commands, too', async () => {
    const { id } = await start(lab, { command: ['sleep', '1000'] });
    const command = ['grep', '-E', '^(Seccomp|NoNewPrivs|CapEff):', '/proc/self/status'];
    const { stdout } = await lab.world().runtime.run(id, { command, timeoutMs: 10_000, maxBytes: 1000 });
    expect(String(stdout)).toMatch(/^Seccomp:\t2$/m);
  });

  promised(lab, 'containers')('of commands make no namespaces, and join none', async () => {
    const attacks = {
      users: 'unshare -U true',
      mounts: 'unshare -m true',
      network: 'unshare -n true',
      processes: 'unshare -pf true',
      'mounts of the node': 'nsenter -t 1 -m true',
      'network of the node': 'nsenter -t 1 -n true',
    };
    expect(await attempt(lab, attacks)).toEqual(allFailed(attacks));
  });
}
