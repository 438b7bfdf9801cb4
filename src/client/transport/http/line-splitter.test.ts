import { expect, it } from 'vitest';
import { fc, forAll } from '../../../../test/support/property-runs.ts';
import { LineSplitter } from './line-splitter.ts';

it('LineSplitter gives the same lines however the bytes are cut', () => {
  forAll(
    fc.array(fc.string({ unit: 'grapheme', minLength: 1 }).filter((line) => !line.includes('\n'))),
    fc.array(fc.nat(), { maxLength: 20 }),
    (lines, cuts) => {
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
      const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
      const splitter = new LineSplitter();
      const out = at.slice(1).flatMap((end, index) => splitter.push(bytes.subarray(at[index], end)));
      expect(out).toEqual(lines);
    },
  );
});

it('LineSplitter holds back an unfinished line, and skips empty ones', () => {
  const splitter = new LineSplitter();
  expect(splitter.push(Buffer.from('a\n\n\nb'))).toEqual(['a']);
  expect(splitter.push(Buffer.from('c'))).toEqual([]);
  expect(splitter.push(Buffer.from('\n'))).toEqual(['bc']);
});
