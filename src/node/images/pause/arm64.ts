/** The pause program for arm64. */
import { assemble, literal, type Part } from './assembler.ts';
import { SIGCHLD, SIGINT, SIGNAL_SET_BYTES, SIGTERM, signalSet } from './signals.ts';

const EXIT = 93;
const RT_SIGPROCMASK = 135;
const RT_SIGTIMEDWAIT = 137;
const WAIT4 = 260;

const INSTRUCTION_BYTES = 4;
/** The register that names the system call. */
const CALL = 8;

function word(value: number): Part {
  const code = Buffer.alloc(INSTRUCTION_BYTES);
  code.writeUInt32LE(value >>> 0);
  return { bytes: INSTRUCTION_BYTES, encode: () => code };
}

/** An instruction that depends on the distance to a label. */
function relative(label: string, value: (distance: number) => number): Part {
  return {
    bytes: INSTRUCTION_BYTES,
    encode: (distanceTo) => {
      const code = Buffer.alloc(INSTRUCTION_BYTES);
      code.writeUInt32LE(value(distanceTo(label)) >>> 0);
      return code;
    },
  };
}

/** movz xN, value */
const set = (register: number, value: number) => word(0xd2800000 | (value << 5) | register);
/** movn xN, 0 */
const setMinusOne = (register: number) => word(0x92800000 | register);
/** adr xN, label; the distance is small, and a multiple of four. */
const loadAddress = (register: number, label: string) =>
  relative(label, (distance) => 0x10000000 | (((distance >> 2) & 0x7ffff) << 5) | register);
/** cmp w0, value */
const compare = (value: number) => word(0x7100001f | (value << 10));
/** b.condition label */
const branchIf = (condition: number, label: string) =>
  relative(label, (distance) => 0x54000000 | (((distance >> 2) & 0x7ffff) << 5) | condition);
/** b label */
const branch = (label: string) => relative(label, (distance) => 0x14000000 | ((distance >> 2) & 0x3ffffff));
/** svc 0 */
const SYSCALL = word(0xd4000001);
const EQUAL = 0;
const NOT_EQUAL = 1;
const GREATER = 12;

export const pauseForArm64 = (): Buffer =>
  assemble([
    // rt_sigprocmask(SIG_BLOCK, &set, NULL, 8): PID 1 gets signals only that it handles, or blocks and waits for.
    set(CALL, RT_SIGPROCMASK),
    set(0, 0),
    loadAddress(1, 'set'),
    set(2, 0),
    set(3, SIGNAL_SET_BYTES),
    SYSCALL,
    { label: 'wait' },
    // rt_sigtimedwait(&set, NULL, NULL, 8)
    set(CALL, RT_SIGTIMEDWAIT),
    loadAddress(0, 'set'),
    set(1, 0),
    set(2, 0),
    set(3, SIGNAL_SET_BYTES),
    SYSCALL,
    compare(SIGTERM),
    branchIf(EQUAL, 'exit'),
    compare(SIGINT),
    branchIf(EQUAL, 'exit'),
    compare(SIGCHLD),
    branchIf(NOT_EQUAL, 'wait'),
    { label: 'reap' },
    // wait4(-1, NULL, WNOHANG, NULL)
    set(CALL, WAIT4),
    setMinusOne(0),
    set(1, 0),
    set(2, 1),
    set(3, 0),
    SYSCALL,
    compare(0),
    branchIf(GREATER, 'reap'),
    branch('wait'),
    { label: 'exit' },
    set(CALL, EXIT),
    set(0, 0),
    SYSCALL,
    { label: 'set' },
    literal(...signalSet()),
  ]);
