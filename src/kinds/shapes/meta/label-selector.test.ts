import { expect, it } from 'vitest';
import { decode } from '../../../schema/decode/decode.ts';
import { validate } from '../../../schema/validate.ts';
import { LabelSelector, selectorMatches } from './label-selector.ts';

const told = (selector: object) =>
  validate(LabelSelector, decode(LabelSelector, selector), {
    operation: 'create',
    old: undefined,
    subresource: undefined,
  }).map(({ field, message }) => `${field}: ${message.split(' (e.g.')[0]}`);

it('a label selector is fine when it can select', () => {
  expect(
    told({
      matchLabels: { app: 'web' },
      matchExpressions: [
        { key: 'a', operator: 'In', values: ['x', ''] },
        { key: 'b/c', operator: 'Exists' },
      ],
    }),
  ).toEqual([]);
  expect(told({})).toEqual([]);
});

it('a label selector says where it cannot', () => {
  const words =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
  expect(
    told({
      matchLabels: { '-': 'x' },
      matchExpressions: [
        { key: 'a', operator: 'In' },
        { key: 'a', operator: 'Exists', values: ['x'] },
        { key: 'a', operator: 'Like' },
        { key: '-', operator: 'NotIn', values: ['x', '-'] },
      ],
    }),
  ).toEqual([
    `matchLabels: Invalid value: "-": name part ${words}`,
    "matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    "matchExpressions[1].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
    'matchExpressions[2].operator: Invalid value: "Like": not a valid selector operator',
    `matchExpressions[3].key: Invalid value: "-": name part ${words}`,
    `matchExpressions[3].values[1]: Invalid value: "-": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`,
  ]);
});

it('a label selector matches labels', () => {
  expect(selectorMatches({ matchLabels: { app: 'web' } }, { app: 'web', x: 'y' })).toBe(true);
  expect(selectorMatches({ matchLabels: { app: 'web' } }, {})).toBe(false);
});
