import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, required, under } from '../../../schema/field-error.ts';
import { configMapKey } from '../../../schema/names.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { age, name } from '../../columns/column.ts';
import { defineKind, type ObjectOf } from '../../kind.ts';
import { compareSemanticVersions, parseSemanticVersion } from './semantic-version.ts';
import { leaseStrategy } from './strategy.ts';

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
