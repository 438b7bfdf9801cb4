/** Volumes whose files the cluster writes: config maps, secrets, fields of the pod, tokens and certificates. */
import { s } from '../../../schema/builders.ts';
import { DownwardAPIFiles, defaultMode, KeysToPaths } from './volume-files.ts';
import { VolumeProjections } from './volume-projection.ts';

export const ConfigMapVolumeSource = s.object('ConfigMapVolumeSource', {
  name: s.string({ required: true }),
  items: KeysToPaths,
  defaultMode,
  optional: s.boolean(),
});

export const SecretVolumeSource = s.object('SecretVolumeSource', {
  secretName: s.string({ required: true }),
  items: KeysToPaths,
  defaultMode,
  optional: s.boolean(),
});

export const DownwardAPIVolumeSource = s.object('DownwardAPIVolumeSource', { items: DownwardAPIFiles, defaultMode });

export const ProjectedVolumeSource = s.object('ProjectedVolumeSource', { sources: VolumeProjections, defaultMode });
