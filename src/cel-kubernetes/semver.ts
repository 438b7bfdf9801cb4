/** `semver('1.2.3')`: versions by the specification of Semantic Versioning. */
import { member, plain } from '../cel/libraries/declare.ts';
import type { Library } from '../cel/library.ts';
import { BOOL, INT, opaqueType, STRING } from '../cel/types/type.ts';
import { fail } from '../cel/values/failure.ts';
import { int } from '../cel/values/numbers.ts';
import { OpaqueValue } from '../cel/values/value.ts';
import { NOMINAL, reading, SIZED } from './costs.ts';

const TYPE = opaqueType('kubernetes.Semver');

class SemverValue extends OpaqueValue {
  readonly type = TYPE;

  constructor(
    readonly numbers: readonly [bigint, bigint, bigint],
    readonly prerelease: readonly string[],
  ) {
    super();
  }

  /** Size of the identifiers to compare. */
  get size(): number {
    return this.prerelease.reduce((sum, part) => sum + 1 + part.length, 0);
  }

  /** Ignores build metadata. */
  equals(other: SemverValue): boolean {
    return compare(this, other) === 0;
  }
}

const MAX_UINT64 = 2n ** 64n;

/** Returns a version, or the error in the text. */
function read(text: string): SemverValue | string {
  if (text === '') return 'Version string empty';
  const parts = text.split('.');
  if (parts.length < 3) return 'No Major.Minor.Patch elements found';
  const [major, minor] = parts as [string, string];
  const tail = parts.slice(2).join('.');
  const plus = tail.indexOf('+');
  const build = plus < 0 ? undefined : tail.slice(plus + 1);
  const release = plus < 0 ? tail : tail.slice(0, plus);
  const dash = release.indexOf('-');
  const patch = dash < 0 ? release : release.slice(0, dash);
  const numbers: bigint[] = [];
  for (const [name, number] of Object.entries({ Major: major, Minor: minor, Patch: patch })) {
    const shown = JSON.stringify(number);
    if (!/^\d+$/.test(number)) return `Invalid character(s) found in ${name.toLowerCase()} number ${shown}`;
    if (number.length > 1 && number.startsWith('0')) return `${name} number must not contain leading zeroes ${shown}`;
    if (number.length > 20 || BigInt(number) >= MAX_UINT64) {
      return `strconv.ParseUint: parsing ${shown}: value out of range`;
    }
    numbers.push(BigInt(number));
  }
  const prerelease = dash < 0 ? [] : release.slice(dash + 1).split('.');
  for (const part of prerelease) {
    const shown = JSON.stringify(part);
    if (part === '') return 'Prerelease is empty';
    if (!/^[0-9A-Za-z-]+$/.test(part)) return `Invalid character(s) found in prerelease ${shown}`;
    if (/^0\d+$/.test(part)) return `Numeric PreRelease version must not contain leading zeroes ${shown}`;
  }
  for (const part of build === undefined ? [] : build.split('.')) {
    if (part === '') return 'Build meta data is empty';
    if (!/^[0-9A-Za-z-]+$/.test(part)) return `Invalid character(s) found in build meta data ${JSON.stringify(part)}`;
  }
  return new SemverValue(numbers as unknown as SemverValue['numbers'], prerelease);
}

/** `v1.02` as `1.2.0`. */
function normalized(text: string): string {
  const [major = '', minor, ...rest] = text.replace(/^v/, '').split('.');
  const parts = [major, ...(minor === undefined ? [] : [minor]), ...(rest.length > 0 ? [rest.join('.')] : [])];
  const trimmed = parts.map((part) => (part.length > 1 ? part.replace(/^0+(?=\d)/, '') : part));
  if (trimmed.length < 3 && /[+-]/.test(trimmed.at(-1)!)) return text;
  while (trimmed.length < 3) trimmed.push('0');
  return trimmed.join('.');
}

function compare(a: SemverValue, b: SemverValue): number {
  for (let i = 0; i < 3; i++) if (a.numbers[i] !== b.numbers[i]) return a.numbers[i]! > b.numbers[i]! ? 1 : -1;
  if (a.prerelease.length === 0 || b.prerelease.length === 0) {
    return Math.sign(b.prerelease.length - a.prerelease.length);
  }
  for (let i = 0; i < Math.min(a.prerelease.length, b.prerelease.length); i++) {
    const order = comparePrereleases(a.prerelease[i]!, b.prerelease[i]!);
    if (order !== 0) return order;
  }
  return Math.sign(a.prerelease.length - b.prerelease.length);
}

function comparePrereleases(a: string, b: string): number {
  const [x, y] = [a, b].map((text) => /^\d+$/.test(text));
  // Numbers have no leading zeros, and come before words.
  if (x && y && a.length !== b.length) return a.length > b.length ? 1 : -1;
  if (x !== y) return x ? -1 : 1;
  return a === b ? 0 : a > b ? 1 : -1;
}

const versionOf = (text: string, isNormalized = false): SemverValue => {
  const version = read(isNormalized ? normalized(text) : text);
  return typeof version === 'string' ? fail(version) : version;
};
const isVersion = (text: string, isNormalized = false) =>
  typeof read(isNormalized ? normalized(text) : text) !== 'string';

const part = (name: string, index: 0 | 1 | 2) => ({
  name,
  overloads: [
    member(
      `semver_${name}`,
      [TYPE],
      INT,
      ({ numbers }: SemverValue) => int(BigInt.asIntN(64, numbers[index])),
      NOMINAL,
    ),
  ],
});

export const SEMVER_LIBRARY: Library = {
  name: 'kubernetes.Semver',
  types: [TYPE],
  functions: [
    {
      name: 'semver',
      overloads: [
        plain('string_to_semver', [STRING], TYPE, (text) => versionOf(text), reading()),
        plain('string_bool_to_semver', [STRING, BOOL], TYPE, versionOf, reading()),
      ],
    },
    {
      name: 'isSemver',
      overloads: [
        plain('is_semver_string', [STRING], BOOL, (text) => isVersion(text), reading()),
        plain('is_semver_string_bool', [STRING, BOOL], BOOL, isVersion, reading()),
      ],
    },
    {
      name: 'isGreaterThan',
      overloads: [member('semver_is_greater_than', [TYPE, TYPE], BOOL, (a, b) => compare(a, b) > 0, SIZED)],
    },
    {
      name: 'isLessThan',
      overloads: [member('semver_is_less_than', [TYPE, TYPE], BOOL, (a, b) => compare(a, b) < 0, SIZED)],
    },
    { name: 'compareTo', overloads: [member('semver_compare_to', [TYPE, TYPE], INT, compare, SIZED)] },
    part('major', 0),
    part('minor', 1),
    part('patch', 2),
  ],
};
