import { expect, test } from 'vitest';
import { pauseProgram } from './pause-program.ts';

const FILE_BYTES = 96;
const MEMORY_BYTES = 104;

test.each(['x64', 'arm64'])('the headers of the program for %s state its size', (architecture) => {
  const program = pauseProgram(architecture);
  expect(program.readBigUInt64LE(FILE_BYTES)).toBe(BigInt(program.length));
  expect(program.readBigUInt64LE(MEMORY_BYTES)).toBe(BigInt(program.length));
});

test('an architecture without a program is unsupported', () => {
  expect(() => pauseProgram('riscv64')).toThrow('there is no pause program for riscv64');
});
