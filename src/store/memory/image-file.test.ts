import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { readImage, writeImage } from './image-file.ts';

const directory = mkdtempSync(join(tmpdir(), 'image-'));
const file = join(directory, 'saved');
afterAll(() => rmSync(directory, { recursive: true }));

const row = (key: string, revision: number, value: Buffer) => ({ key, revision, value });
const image = {
  revision: 7,
  rows: [
    row('/a', 3, Buffer.from('{"text":"für \u{1f30a}\\n"}')),
    row('/b', 5, Buffer.from([0xff, 0x00, 0xc3, 0x28])),
    row('/c', 7, Buffer.alloc(0)),
  ],
};

it('keeps every value byte by byte', async () => {
  await writeImage(file, { image, about: { seed: 1 } });
  expect(readImage(file)).toEqual({ image, about: { seed: 1 } });
});

it.each<[string, (lines: string[]) => string[], string]>([
  ['without its last lines', (lines) => lines.slice(0, 2), 'it has 1 of 3 objects'],
  ['with lines of another', (lines) => [...lines, lines[1]!], 'it has 4 of 3 objects'],
  ['cut in a line', (lines) => [...lines.slice(0, 3), lines[3]!.slice(0, 4)], 'line 4 cannot be read'],
  ['with a line of something else', (lines) => [...lines.slice(0, 3), '{}'], 'line 4 cannot be read'],
  ['with a value of something else', (lines) => [...lines.slice(0, 3), '["/c",7,7]'], 'line 4 cannot be read'],
  ['with another encoding', (lines) => [...lines.slice(0, 3), '["/c",7,"","hex"]'], 'line 4 cannot be read'],
  ['with an impossible revision', (lines) => [...lines.slice(0, 3), '["/c",-1,""]'], 'line 4 cannot be read'],
  ['without a revision', ([head, ...lines]) => [head!.replace('"revision":7', '"revision":"x"'), ...lines], 'line 1'],
  ['with an object twice', (lines) => [...lines.slice(0, 3), lines[2]!], 'the keys of lines 3 and 4 are not in order'],
])('rejects a file %s', async (_, change, message) => {
  await writeImage(file, { image, about: {} });
  writeFileSync(file, change(readFileSync(file, 'utf8').trimEnd().split('\n')).join('\n'));
  expect(() => readImage(file)).toThrow(`${file} is damaged: ${message}`);
});
