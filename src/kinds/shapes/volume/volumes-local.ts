/** Volumes whose content is created for the pod on its node. */
import { s } from '../../../schema/builders.ts';
import { forbidden } from '../../../schema/field-error.ts';
import { matches } from '../../../schema/rules.ts';
import { pullPolicyOf } from '../container/image-name.ts';
import { descendingPath } from '../meta/paths.ts';

export const EmptyDirVolumeSource = s.object(
  'EmptyDirVolumeSource',
  {
    medium: s.string({
      omitZero: true,
      description: 'Storage medium: empty for the disk of the node, Memory for a tmpfs, or HugePages.',
    }),
    sizeLimit: s.quantity({
      description:
        'Maximum size of the volume. With medium Memory it also cannot exceed the memory limits of the ' +
        'containers. Unlimited by default.',
      rules: [
        (size: string) =>
          size.startsWith('-') ? forbidden('', 'SizeLimit field must be a valid resource quantity') : undefined,
      ],
    }),
  },
  { description: 'A directory on the node that is empty at first and deleted together with the pod.' },
);

export const GitRepoVolumeSource = s.object(
  'GitRepoVolumeSource',
  {
    repository: s.string({ required: true, description: 'URL of the repository.' }),
    revision: s.string({ omitZero: true, description: 'Commit, branch or tag to check out.' }),
    directory: s.string({
      omitZero: true,
      description:
        "Directory to clone into, relative to the volume; '.' means the volume itself. Must not contain '..'.",
      rules: [matches(descendingPath)],
    }),
  },
  {
    description:
      'A clone of a Git repository. Deprecated and disabled by default: clone in an init container into an ' +
      'emptyDir instead.',
  },
);

export const ImageVolumeSource = s.object(
  'ImageVolumeSource',
  {
    reference: s.string({
      omitZero: true,
      description: 'Image or artifact to mount, in the form of a container image.',
    }),
    pullPolicy: s.enum(['Always', 'IfNotPresent', 'Never'], {
      default: ({ reference }: { reference?: string }) => pullPolicyOf(reference),
      description:
        'When the image is pulled: Always, IfNotPresent or Never. Defaults to Always if the tag is latest or ' +
        'missing, otherwise to IfNotPresent.',
    }),
  },
  { description: 'The content of an OCI image or artifact, mounted read-only.' },
);
