import { expect, it, test } from 'vitest';
import { create } from '../../../../test/support/kinds/test-object.ts';
import type { Kind } from '../../kind.ts';
import { compareSemanticVersions, LeaseCandidate, parseSemanticVersion } from './lease-candidate.ts';

const kind: Kind<any> = LeaseCandidate;
const valid = {
  ...{ leaseName: 'l', binaryVersion: '1.36.0', emulationVersion: '1.35.0', strategy: 'OldestEmulationVersion' },
};
const errorsOf = (spec: object) => create(kind, { metadata: { name: 'a' }, spec }).errors;

test('a candidate names a lease, its versions and a strategy', () => {
  expect(errorsOf(valid)).toEqual([]);
  expect(errorsOf({ ...valid, emulationVersion: undefined, strategy: 'example.com/best' })).toEqual([]);
});

test.each<[object, string[]]>([
  [{}, ['spec.leaseName: Required value', 'spec.binaryVersion: Required value', 'spec.strategy: Required value']],
  [{ ...valid, binaryVersion: 'v1' }, ['spec.binaryVersion: Invalid value: "v1": must be a valid semantic version']],
  [
    { ...valid, emulationVersion: '1.37.0' },
    ['spec.binaryVersion: Invalid value: "1.36.0": must be greater than or equal to `emulationVersion`'],
  ],
  [
    { ...valid, emulationVersion: '' },
    ["spec.emulationVersion: Required value: must be specified when `strategy` is 'OldestEmulationVersion'"],
  ],
  [
    { ...valid, strategy: 'Best' },
    ['spec.strategy: Unsupported value: "Best": supported values: "OldestEmulationVersion"'],
  ],
])('%j is rejected', (spec, errors) => {
  expect(errorsOf(spec)).toEqual(errors);
});

const ascending = [
  '1.0.0-1',
  '1.0.0-2',
  '1.0.0-10',
  '1.0.0-alpha',
  '1.0.0-alpha.1',
  '1.0.0-beta',
  '1.0.0',
  '1.2.0',
  '1.10.0',
];

it('semantic versions are ordered', () => {
  for (const [index, text] of ascending.entries()) {
    for (const [other, later] of ascending.entries()) {
      const found = compareSemanticVersions(parseSemanticVersion(text)!, parseSemanticVersion(later)!);
      expect(Math.sign(found), `${text} ${later}`).toBe(Math.sign(index - other));
    }
  }
});

it.each(['', '1', '1.2', 'v1.2.3', '1.2.3-', '01.2.3', '1.2.3-01', '1.2.3+', `1.2.3-${'a'.repeat(300)}`])(
  'semantic versions: %j is none',
  (text) => {
    expect(parseSemanticVersion(text)).toBeUndefined();
  },
);
