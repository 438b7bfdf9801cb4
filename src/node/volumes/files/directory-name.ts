import type { Random } from '../../../base/random.ts';

const NANOSECONDS = 1_000_000_000;

/** `..2030_01_01_12_00_00.123456789`: the time, and a random number, so that two in one second differ. */
export function dataDirectoryName(now: number, random: Random): string {
  const [date = '', time = ''] = new Date(now).toISOString().split('T');
  const stamp = `${date}_${time.slice(0, 8)}`.replace(/[-:]/g, '_');
  return `..${stamp}.${random.int(NANOSECONDS)}`;
}
