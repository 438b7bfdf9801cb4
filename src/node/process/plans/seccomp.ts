/** The filter behind the seccomp profile `RuntimeDefault`: system calls that no ordinary program needs fail with EPERM. */

/** Numbers on x64 and arm64. */
const DENIED: readonly (readonly [name: string, x64: number, arm64: number | undefined])[] = [
  ['acct', 163, 89],
  ['add_key', 248, 217],
  ['bpf', 321, 280],
  ['clock_adjtime', 305, 266],
  ['clock_settime', 227, 112],
  ['delete_module', 176, 106],
  ['finit_module', 313, 273],
  ['fsconfig', 431, 431],
  ['fsmount', 432, 432],
  ['fsopen', 430, 430],
  ['fspick', 433, 433],
  ['init_module', 175, 105],
  ['ioperm', 173, undefined],
  ['iopl', 172, undefined],
  ['kexec_file_load', 320, 294],
  ['kexec_load', 246, 104],
  ['keyctl', 250, 219],
  ['lookup_dcookie', 212, 18],
  ['mount', 165, 40],
  ['mount_setattr', 442, 442],
  ['move_mount', 429, 429],
  ['open_by_handle_at', 304, 265],
  ['open_tree', 428, 428],
  ['perf_event_open', 298, 241],
  ['pivot_root', 155, 41],
  ['quotactl', 179, 60],
  ['reboot', 169, 142],
  ['request_key', 249, 218],
  ['setns', 308, 268],
  ['settimeofday', 164, 170],
  ['swapoff', 168, 225],
  ['swapon', 167, 224],
  ['syslog', 103, 116],
  ['umount2', 166, 39],
  ['unshare', 272, 97],
  ['userfaultfd', 323, 282],
  ['vhangup', 153, 58],
];

const AUDIT_ARCH = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;
const LOAD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_GREATER_OR_EQUAL = 0x35;
const RETURN = 0x06;
const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const ERRNO_EPERM = 0x00050001;
/** Calls of the x32 interface have this bit set. */
const X32_BIT = 0x40000000;

/** Returns the program of the filter, in hexadecimal. */
export function deniedSyscalls(architecture: string): string {
  const isArm = architecture === 'arm64';
  const numbers = DENIED.flatMap(([, x64, arm64]) => (isArm ? arm64 : x64) ?? []);
  const instructions: [code: number, jt: number, jf: number, k: number][] = [
    [LOAD, 0, 0, 4],
    [JUMP_IF_EQUAL, 1, 0, isArm ? AUDIT_ARCH.arm64 : AUDIT_ARCH.x64],
    [RETURN, 0, 0, KILL_PROCESS],
    [LOAD, 0, 0, 0],
    [JUMP_IF_GREATER_OR_EQUAL, numbers.length + 1, 0, X32_BIT],
    ...numbers.map((number, i): [number, number, number, number] => [JUMP_IF_EQUAL, numbers.length - i, 0, number]),
    [RETURN, 0, 0, ALLOW],
    [RETURN, 0, 0, ERRNO_EPERM],
  ];
  const program = Buffer.alloc(instructions.length * 8);
  for (const [i, [code, jt, jf, k]] of instructions.entries()) {
    program.writeUInt16LE(code, i * 8);
    program.writeUInt8(jt, i * 8 + 2);
    program.writeUInt8(jf, i * 8 + 3);
    program.writeUInt32LE(k, i * 8 + 4);
  }
  return program.toString('hex');
}
