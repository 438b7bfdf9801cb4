import { RuntimeError } from '../../runtime/errors.ts';

/**
 * Machine code of the pause program, as hexadecimal bytes beside the assembly language that they encode. PID 1 receives only
 * signals that it handles, or that it blocks and waits for: the program does the latter, and reaps orphans upon SIGCHLD.
 */
const X64 = [
  'b8 0e 00 00 00', // mov  eax, 14              rt_sigprocmask(SIG_BLOCK, &set, NULL, 8)
  '31 ff', // xor  edi, edi
  '48 8d 35 56 00 00 00', // lea  rsi, [rip + set]
  '31 d2', // xor  edx, edx
  '41 ba 08 00 00 00', // mov  r10d, 8
  '0f 05', // syscall
  'b8 80 00 00 00', // wait: mov eax, 128        rt_sigtimedwait(&set, NULL, NULL, 8)
  '48 8d 3d 40 00 00 00', // lea  rdi, [rip + set]
  '31 f6', // xor  esi, esi
  '31 d2', // xor  edx, edx
  '41 ba 08 00 00 00', // mov  r10d, 8
  '0f 05', // syscall
  '83 f8 0f', // cmp  eax, 15              SIGTERM
  '74 26', // je   exit
  '83 f8 02', // cmp  eax, 2               SIGINT
  '74 21', // je   exit
  '83 f8 11', // cmp  eax, 17              SIGCHLD
  '75 d9', // jne  wait
  'b8 3d 00 00 00', // reap: mov eax, 61         wait4(-1, NULL, WNOHANG, NULL)
  'bf ff ff ff ff', // mov  edi, -1
  '31 f6', // xor  esi, esi
  'ba 01 00 00 00', // mov  edx, 1
  '45 31 d2', // xor  r10d, r10d
  '0f 05', // syscall
  '85 c0', // test eax, eax
  '7f e6', // jg   reap
  'eb bd', // jmp  wait
  'b8 3c 00 00 00', // exit: mov eax, 60         exit(0)
  '31 ff', // xor  edi, edi
  '0f 05', // syscall
  '02 40 01 00 00 00 00 00', // set:  SIGINT, SIGTERM, SIGCHLD
];

/** The same for arm64, whose instructions have four bytes each. */
const ARM64 = [
  'e8 10 80 d2', // mov  x8, 135              rt_sigprocmask(SIG_BLOCK, &set, NULL, 8)
  '00 00 80 d2', // mov  x0, 0
  '81 03 00 10', // adr  x1, set
  '02 00 80 d2', // mov  x2, 0
  '03 01 80 d2', // mov  x3, 8
  '01 00 00 d4', // svc  0
  '28 11 80 d2', // wait: mov x8, 137         rt_sigtimedwait(&set, NULL, NULL, 8)
  'e0 02 00 10', // adr  x0, set
  '01 00 80 d2', // mov  x1, 0
  '02 00 80 d2', // mov  x2, 0
  '03 01 80 d2', // mov  x3, 8
  '01 00 00 d4', // svc  0
  '1f 3c 00 71', // cmp  w0, 15               SIGTERM
  'c0 01 00 54', // b.eq exit
  '1f 08 00 71', // cmp  w0, 2                SIGINT
  '80 01 00 54', // b.eq exit
  '1f 44 00 71', // cmp  w0, 17               SIGCHLD
  'a1 fe ff 54', // b.ne wait
  '88 20 80 d2', // reap: mov x8, 260         wait4(-1, NULL, WNOHANG, NULL)
  '00 00 80 92', // mov  x0, -1
  '01 00 80 d2', // mov  x1, 0
  '22 00 80 d2', // mov  x2, 1
  '03 00 80 d2', // mov  x3, 0
  '01 00 00 d4', // svc  0
  '1f 00 00 71', // cmp  w0, 0
  '2c ff ff 54', // b.gt reap
  'ec ff ff 17', // b    wait
  'a8 0b 80 d2', // exit: mov x8, 93          exit(0)
  '00 00 80 d2', // mov  x0, 0
  '01 00 00 d4', // svc  0
  '02 40 01 00 00 00 00 00', // set:  SIGINT, SIGTERM, SIGCHLD
];

/** Headers of a static program of one segment, which is loaded at 0x400000 with these headers. */
const elfHeaders = (machine: string, bytes: string) => [
  '7f 45 4c 46 02 01 01 00 0000000000000000', // ELF, 64 bits, little endian, version 1
  `0200 ${machine} 01000000`, // executable, machine, version 1
  '7800400000000000 4000000000000000 0000000000000000', // entry after the headers; program headers at 64; no sections
  '00000000 4000 3800 0100 0000 0000 0000', // flags; size of this header; size and number of program headers
  '01000000 05000000 0000000000000000', // load this file from its beginning; read and execute
  `0000400000000000 0000400000000000 ${bytes} ${bytes}`, // addresses; bytes in the file and in memory
  '0000010000000000', // aligned to 64 KiB, the largest page
];

const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  x64: [...elfHeaders('3e00', 'e400000000000000'), ...X64],
  arm64: [...elfHeaders('b700', 'f800000000000000'), ...ARM64],
};

/** The pause program as an executable file. `architecture` is Node's name for it. */
export function pauseProgram(architecture: string): Buffer {
  const program = PROGRAMS[architecture];
  if (!program) throw new RuntimeError('Unsupported', `there is no pause program for ${architecture}`);
  return Buffer.from(program.join('').replaceAll(' ', ''), 'hex');
}
