import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, required, under } from '../../../schema/field-error.ts';
import { configMapKey } from '../../../schema/names.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { age, name } from '../../columns/column.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';
import { leaseStrategy } from './strategy.ts';

/** A semantic version (semver.org 2.0.0). */
interface SemanticVersion {
  readonly numbers: readonly number[];
  /** Identifiers of a pre-release: `['alpha', '1']` of `1.2.3-alpha.1`. */
  readonly preRelease: readonly string[];
}

/** A longer text is no version; the pattern is not tried on it. */
const MAX_VERSION_LENGTH = 256;
const NUMBER = '(0|[1-9]\\d*)';
const WORDS = '[\\dA-Za-z-]+(?:\\.[\\dA-Za-z-]+)*';

const VERSION = new RegExp(`^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-(${WORDS}))?(?:\\+${WORDS})?$`);
const LEADING_ZERO = /^0\d+$/;

const spec = {
  leaseName: s.string('Name of the Lease that the candidate wants to hold. Required; cannot be changed.', {
    zero: true,
    immutable: true,
  }),
  pingTime: s.microTime('When an election last asked the candidate to show that it is alive, by renewing renewTime.'),
  renewTime: s.microTime('When the candidate last showed that it is alive.'),
  binaryVersion: s.string(
    'Version of the program, as a semantic version without a leading v, such as 1.36.0. Required.',
    { zero: true },
  ),
  emulationVersion: s.string(
    'Version that the program emulates, as a semantic version that is not above binaryVersion. Required with the strategy OldestEmulationVersion.',
    { omitZero: true },
  ),
  strategy: s.string(
    'How the holder is picked: OldestEmulationVersion, or a strategy of your own with a domain prefix. Required. If candidates disagree, the one with the highest binaryVersion decides.',
    { zero: true },
  ),
};
type Spec = ObjectType<typeof spec>;

/** Kind of a program that is a candidate for a Lease in a coordinated leader election. */
export const LeaseCandidate = defineKind({
  kind: 'LeaseCandidate',
  scope: 'Namespaced',
  description:
    'A program that wants to hold a Lease, and the versions that it speaks. A coordinated leader election picks the best of the candidates.',
  versions: { 'coordination.k8s.io/v1beta1': {} },
  fields: {
    spec: s.object('LeaseCandidateSpec', 'Which Lease the candidate wants, and what it offers.', spec, {
      zero: true,
      rules: [complete],
    }),
  },
  name: configMapKey,
  requiresVersion: true,
  createOnUpdate: true,
  selectable: { 'spec.leaseName': (object: { readonly spec?: Partial<Spec> }) => object.spec?.leaseName ?? '' },
  columns: ({ text }) => [
    name,
    text('LeaseName', 'Lease that the candidate wants to hold.', ({ spec: own }) => own?.leaseName ?? ''),
    text('BinaryVersion', 'Version of the program.', ({ spec: own }) => own?.binaryVersion ?? ''),
    text('EmulationVersion', 'Version that the program emulates.', ({ spec: own }) => own?.emulationVersion ?? ''),
    age,
  ],
});
export type LeaseCandidate = ObjectOf<typeof LeaseCandidate>;

const MUST_BE_VERSION = 'must be a valid semantic version';

function complete({ leaseName, binaryVersion, emulationVersion = '', strategy }: Spec): FieldError[] {
  const found: FieldError[] = leaseName ? [] : [required('leaseName')];
  const emulated = parseSemanticVersion(emulationVersion);
  const binary = parseSemanticVersion(binaryVersion);
  if (emulationVersion && !emulated) found.push(invalid('emulationVersion', emulationVersion, MUST_BE_VERSION));
  if (!binaryVersion) found.push(required('binaryVersion'));
  else if (!binary) found.push(invalid('binaryVersion', binaryVersion, MUST_BE_VERSION));
  if (binary && emulated && compareSemanticVersions(binary, emulated) < 0) {
    found.push(invalid('binaryVersion', binaryVersion, 'must be greater than or equal to `emulationVersion`'));
  }
  if (!strategy) return [...found, required('strategy')];
  if (strategy === 'OldestEmulationVersion' && !emulated) {
    found.push(required('emulationVersion', "must be specified when `strategy` is 'OldestEmulationVersion'"));
  }
  return [...found, ...under('strategy', leaseStrategy(strategy))];
}

/** Parses a version; undefined for other text. */
export function parseSemanticVersion(text: string): SemanticVersion | undefined {
  const [, major, minor, patch, words] = (text.length <= MAX_VERSION_LENGTH && VERSION.exec(text)) || [];
  if (major === undefined) return undefined;
  const preRelease = words?.split('.') ?? [];
  if (preRelease.some((word) => LEADING_ZERO.test(word))) return undefined;
  return { numbers: [major, minor, patch].map(Number), preRelease };
}

/** Compares versions: below 0 if the first is older, above 0 if it is newer. */
export function compareSemanticVersions(a: SemanticVersion, b: SemanticVersion): number {
  for (const [index, number] of a.numbers.entries()) {
    const difference = number - (b.numbers[index] ?? 0);
    if (difference !== 0) return difference;
  }
  if (a.preRelease.length === 0 || b.preRelease.length === 0) return b.preRelease.length - a.preRelease.length;
  for (let index = 0; index < Math.max(a.preRelease.length, b.preRelease.length); index++) {
    const difference = compareWords(a.preRelease[index], b.preRelease[index]);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Numbers are older than words, and nothing is older than both. */
function compareWords(a: string | undefined, b: string | undefined): number {
  if (a === b) return 0;
  if (a === undefined || b === undefined) return a === undefined ? -1 : 1;
  const [isNumberA, isNumberB] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isNumberA && isNumberB) return Number(a) - Number(b);
  if (isNumberA !== isNumberB) return isNumberA ? -1 : 1;
  return a < b ? -1 : 1;
}
