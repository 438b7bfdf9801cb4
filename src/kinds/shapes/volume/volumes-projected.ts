/** Volumes with files from the API: ConfigMaps, Secrets, fields of the pod, tokens and certificates. */
import { s } from '../../../schema/builders.ts';
import { DownwardAPIFiles, defaultMode, KeysToPaths } from './volume-files.ts';
import { VolumeProjections } from './volume-projection.ts';

export const ConfigMapVolumeSource = s.object(
  'ConfigMapVolumeSource',
  {
    name: s.string({ required: true, description: 'Name of the ConfigMap, in the namespace of the pod.' }),
    items: KeysToPaths,
    defaultMode,
    optional: s.boolean({
      description:
        'If true, the ConfigMap or the keys in items may be missing. Defaults to false, so that the pod waits ' +
        'for them.',
    }),
  },
  { description: 'Files from the keys of a ConfigMap.' },
);

export const SecretVolumeSource = s.object(
  'SecretVolumeSource',
  {
    secretName: s.string({ required: true, description: 'Name of the Secret, in the namespace of the pod.' }),
    items: KeysToPaths,
    defaultMode,
    optional: s.boolean({
      description:
        'If true, the Secret or the keys in items may be missing. Defaults to false, so that the pod waits for ' +
        'them.',
    }),
  },
  { description: 'Files from the keys of a Secret.' },
);

export const DownwardAPIVolumeSource = s.object(
  'DownwardAPIVolumeSource',
  { items: DownwardAPIFiles, defaultMode },
  { description: 'Files with fields of the pod and resources of its containers.' },
);

export const ProjectedVolumeSource = s.object(
  'ProjectedVolumeSource',
  { sources: VolumeProjections, defaultMode },
  { description: 'Files from several sources in one directory.' },
);
