import { expect, it } from 'vitest';
import { pemBlocks } from './pem.ts';

const block = (type: string, body: string, end = type) => `-----BEGIN ${type}-----\n${body}\n-----END ${end}-----\n`;

it('finds blocks between other text', () => {
  const text = `hello\n${block('A', 'AAEC\nAwQF')}more\r\n${block('B C', 'BgcI').replaceAll('\n', '\r\n')}`;
  expect([...pemBlocks(text)]).toEqual([
    { type: 'A', hasHeaders: false, bytes: Buffer.from([0, 1, 2, 3, 4, 5]) },
    { type: 'B C', hasHeaders: false, bytes: Buffer.from([6, 7, 8]) },
  ]);
});

it('recognizes headers', () => {
  expect([...pemBlocks(block('A', 'Proc-Type: 4\n\nAAEC'))]).toEqual([
    { type: 'A', hasHeaders: true, bytes: Buffer.from([0, 1, 2]) },
  ]);
});

it.each([
  ['that end as another', block('A', 'AAEC', 'B')],
  ['that are not base64', block('A', 'AA*C')],
  ['that do not end', '-----BEGIN A-----\nAAEC\n'],
  ['that do not begin', 'AAEC\n-----END A-----\n'],
  ['that are nothing', ''],
])('skips blocks %s', (_what, broken) => {
  expect([...pemBlocks(broken + block('Z', ''))]).toEqual([{ type: 'Z', hasHeaders: false, bytes: Buffer.alloc(0) }]);
});

it('takes linear time', () => {
  const text = '-----BEGIN A-----\n'.repeat(50_000) + '-----END A-----\n'.repeat(50_000);
  expect([...pemBlocks(text)]).toHaveLength(1);
});

it('takes linear time without line breaks', () => {
  const before = process.cpuUsage();
  expect([...pemBlocks('-----BEGIN -----END '.repeat(100_000))]).toEqual([]);
  // The linear search takes a twentieth of this limit, and a search of the whole text for every line ten times the
  // limit.
  expect(process.cpuUsage(before).user).toBeLessThan(500_000);
});
