/** Volumes that live and end with the pod. */
import { s } from '../../../schema/builders.ts';
import { forbidden } from '../../../schema/field-error.ts';
import { matches } from '../../../schema/rules.ts';
import { pullPolicyOf } from '../container/image-name.ts';
import { descendingPath } from '../meta/paths.ts';

export const EmptyDirVolumeSource = s.object('EmptyDirVolumeSource', {
  medium: s.string({ omitZero: true }),
  sizeLimit: s.quantity({
    rules: [
      (size: string) =>
        size.startsWith('-') ? forbidden('', 'SizeLimit field must be a valid resource quantity') : undefined,
    ],
  }),
});

export const GitRepoVolumeSource = s.object('GitRepoVolumeSource', {
  repository: s.string({ required: true }),
  revision: s.string({ omitZero: true }),
  directory: s.string({ omitZero: true, rules: [matches(descendingPath)] }),
});

export const ImageVolumeSource = s.object('ImageVolumeSource', {
  reference: s.string({ omitZero: true }),
  pullPolicy: s.enum(['Always', 'IfNotPresent', 'Never'], {
    default: ({ reference }: { reference?: string }) => pullPolicyOf(reference),
  }),
});
