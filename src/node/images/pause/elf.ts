/** Encodes a static program for Linux, of one segment that holds headers and code. */

const HEADER_BYTES = 64;
const PROGRAM_HEADER_BYTES = 56;
const CODE_OFFSET = HEADER_BYTES + PROGRAM_HEADER_BYTES;
const LOAD_ADDRESS = 0x400000n;
/** The largest page of any Linux on these machines. */
const PAGE_BYTES = 0x10000n;
const READ_AND_EXECUTE = 5;
const EXECUTABLE = 2;
const LOADED = 1;

/** The numbers that ELF has for machines. */
export const ELF_MACHINES = { x64: 62, arm64: 183 } as const;

export function elfProgram(machine: number, code: Buffer): Buffer {
  const header = Buffer.alloc(CODE_OFFSET);
  // 64 bits, little endian, version 1.
  Buffer.from([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]).copy(header);
  header.writeUInt16LE(EXECUTABLE, 16);
  header.writeUInt16LE(machine, 18);
  header.writeUInt32LE(1, 20);
  header.writeBigUInt64LE(LOAD_ADDRESS + BigInt(CODE_OFFSET), 24);
  header.writeBigUInt64LE(BigInt(HEADER_BYTES), 32);
  header.writeUInt16LE(HEADER_BYTES, 52);
  header.writeUInt16LE(PROGRAM_HEADER_BYTES, 54);
  header.writeUInt16LE(1, 56);
  const size = BigInt(CODE_OFFSET + code.length);
  const segment = header.subarray(HEADER_BYTES);
  segment.writeUInt32LE(LOADED, 0);
  segment.writeUInt32LE(READ_AND_EXECUTE, 4);
  segment.writeBigUInt64LE(LOAD_ADDRESS, 16);
  segment.writeBigUInt64LE(LOAD_ADDRESS, 24);
  segment.writeBigUInt64LE(size, 32);
  segment.writeBigUInt64LE(size, 40);
  segment.writeBigUInt64LE(PAGE_BYTES, 48);
  return Buffer.concat([header, code]);
}
