/** Volumes with files from the API: ConfigMaps, Secrets, fields of the pod, tokens and certificates. */
import { s } from '../../../schema/builders.ts';
import { DownwardAPIFiles, defaultMode, KeysToPaths } from './volume-files.ts';
import { VolumeProjections } from './volume-projection.ts';

export const ConfigMapVolumeSource = s.object('ConfigMapVolumeSource', 'Files from the keys of a ConfigMap.', {
  name: s.string('Name of the ConfigMap, in the namespace of the pod.', { required: true }),
  items: KeysToPaths,
  defaultMode,
  optional: s.boolean(
    'If true, the ConfigMap or the keys in items may be missing. Defaults to false, so that the pod waits ' +
      'for them.',
  ),
});

export const SecretVolumeSource = s.object('SecretVolumeSource', 'Files from the keys of a Secret.', {
  secretName: s.string('Name of the Secret, in the namespace of the pod.', { required: true }),
  items: KeysToPaths,
  defaultMode,
  optional: s.boolean(
    'If true, the Secret or the keys in items may be missing. Defaults to false, so that the pod waits for ' + 'them.',
  ),
});

export const DownwardAPIVolumeSource = s.object(
  'DownwardAPIVolumeSource',
  'Files with fields of the pod and resources of its containers.',
  { items: DownwardAPIFiles, defaultMode },
);

export const ProjectedVolumeSource = s.object('ProjectedVolumeSource', 'Files from several sources in one directory.', {
  sources: VolumeProjections,
  defaultMode,
});
