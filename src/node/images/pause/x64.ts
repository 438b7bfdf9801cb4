/** The pause program for x64. */
import { assemble, literal, type Part } from './assembler.ts';
import { SIGCHLD, SIGINT, SIGNAL_SET_BYTES, SIGTERM, signalSet } from './signals.ts';

const RT_SIGPROCMASK = 14;
const EXIT = 60;
const WAIT4 = 61;
const RT_SIGTIMEDWAIT = 128;

const SYSCALL = literal(0x0f, 0x05);
const ZERO_EDI = literal(0x31, 0xff);
const ZERO_ESI = literal(0x31, 0xf6);
const ZERO_EDX = literal(0x31, 0xd2);
const ZERO_R10 = literal(0x45, 0x31, 0xd2);
/** Into r10d, the fourth argument. */
const SET_SIZE = literal(0x41, 0xba, SIGNAL_SET_BYTES, 0, 0, 0);

const setEax = (value: number) => literal(0xb8, value, 0, 0, 0);
const compareEax = (value: number) => literal(0x83, 0xf8, value);
const jump = (opcode: number, label: string): Part => ({
  bytes: 2,
  encode: (distanceTo) => Buffer.from([opcode, (distanceTo(label) - 2) & 0xff]),
});
/** Loads the address of a label. */
const loadAddress = (opcodes: readonly number[], label: string): Part => ({
  bytes: 7,
  encode: (distanceTo) => {
    const code = Buffer.from([...opcodes, 0, 0, 0, 0]);
    code.writeInt32LE(distanceTo(label) - 7, 3);
    return code;
  },
});
const RSI = [0x48, 0x8d, 0x35];
const RDI = [0x48, 0x8d, 0x3d];
const JUMP = 0xeb;
const JUMP_IF_EQUAL = 0x74;
const JUMP_IF_NOT_EQUAL = 0x75;
const JUMP_IF_GREATER = 0x7f;

export const pauseForX64 = (): Buffer =>
  assemble([
    // rt_sigprocmask(SIG_BLOCK, &set, NULL, 8): PID 1 gets signals only that it handles, or blocks and waits for.
    setEax(RT_SIGPROCMASK),
    ZERO_EDI,
    loadAddress(RSI, 'set'),
    ZERO_EDX,
    SET_SIZE,
    SYSCALL,
    { label: 'wait' },
    // rt_sigtimedwait(&set, NULL, NULL, 8)
    setEax(RT_SIGTIMEDWAIT),
    loadAddress(RDI, 'set'),
    ZERO_ESI,
    ZERO_EDX,
    SET_SIZE,
    SYSCALL,
    compareEax(SIGTERM),
    jump(JUMP_IF_EQUAL, 'exit'),
    compareEax(SIGINT),
    jump(JUMP_IF_EQUAL, 'exit'),
    compareEax(SIGCHLD),
    jump(JUMP_IF_NOT_EQUAL, 'wait'),
    { label: 'reap' },
    // wait4(-1, NULL, WNOHANG, NULL)
    setEax(WAIT4),
    literal(0xbf, 0xff, 0xff, 0xff, 0xff),
    ZERO_ESI,
    literal(0xba, 1, 0, 0, 0),
    ZERO_R10,
    SYSCALL,
    literal(0x85, 0xc0),
    jump(JUMP_IF_GREATER, 'reap'),
    jump(JUMP, 'wait'),
    { label: 'exit' },
    setEax(EXIT),
    ZERO_EDI,
    SYSCALL,
    { label: 'set' },
    literal(...signalSet()),
  ]);
