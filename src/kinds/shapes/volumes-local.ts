/** Volumes that live and end with the pod. */
import { s } from '../../schema/builders.ts';
import { pullPolicyOf } from './image-name.ts';

export const EmptyDirVolumeSource = s.object('EmptyDirVolumeSource', {
  medium: s.string(),
  sizeLimit: s.quantity(),
});

export const GitRepoVolumeSource = s.object('GitRepoVolumeSource', {
  repository: s.string({ required: true }),
  revision: s.string(),
  directory: s.string(),
});

export const ImageVolumeSource = s.object('ImageVolumeSource', {
  reference: s.string(),
  pullPolicy: s.string({ default: (source: { reference?: string }) => pullPolicyOf(source.reference) }),
});
