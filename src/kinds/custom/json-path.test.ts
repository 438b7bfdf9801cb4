import { expect, it } from 'vitest';
import { jsonPath } from './json-path.ts';

const object = {
  spec: {
    size: 3,
    'a.b': 'dotted',
    list: [
      { name: 'x', v: 1 },
      { name: 'y', v: 2 },
    ],
  },
  status: {
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Other', status: 'False' },
    ],
  },
};

it.each<[path: string, expected: unknown[]]>([
  ['.spec.size', [3]],
  ['.spec.missing', []],
  ['.spec.a\\.b', ['dotted']],
  ["['spec']['size']", [3]],
  ['.spec.list[0].name', ['x']],
  ['.spec.list[-1].name', ['y']],
  ['.spec.list[*].v', [1, 2]],
  ['.status.conditions[?(@.type=="Ready")].status', ['True']],
  [".status.conditions[?(@.type == 'Other')].status", ['False']],
  ['.spec.list[?(@.v>1)].name', ['y']],
  ['.spec..v', [1, 2]],
])('%s', (path, expected) => {
  expect(jsonPath(path)?.(object)).toEqual(expected);
});

it.each(['.spec[', '.spec[?(@.a=b)]', '.spec{}'])('%s is no path', (path) => {
  expect(jsonPath(path)).toBeUndefined();
});

it('reads a hostile path without backtracking', () => {
  expect(jsonPath(`.a[?(@${'[]'.repeat(20_000)}`)).toBeUndefined();
});
