/** Volumes whose content is created for the pod on its node. */
import { s } from '../../../schema/builders.ts';
import { forbidden } from '../../../schema/field-error.ts';
import { matches } from '../../../schema/rules.ts';
import { pullPolicyOf } from '../container/image-name.ts';
import { descendingPath } from '../meta/paths.ts';

export const EmptyDirVolumeSource = s.object(
  'EmptyDirVolumeSource',
  'A directory on the node that is empty at first and deleted together with the pod.',
  {
    medium: s.string('Storage medium: empty for the disk of the node, Memory for a tmpfs, or HugePages.', {
      omitZero: true,
    }),
    sizeLimit: s.quantity(
      'Maximum size of the volume. With medium Memory it also cannot exceed the memory limits of the ' +
        'containers. Unlimited by default.',
      {
        rules: [
          (size: string) =>
            size.startsWith('-') ? forbidden('', 'SizeLimit field must be a valid resource quantity') : undefined,
        ],
      },
    ),
  },
);

export const GitRepoVolumeSource = s.object(
  'GitRepoVolumeSource',
  'A clone of a Git repository. Deprecated and disabled by default: clone in an init container into an ' +
    'emptyDir instead.',
  {
    repository: s.string('URL of the repository.', { required: true }),
    revision: s.string('Commit, branch or tag to check out.', { omitZero: true }),
    directory: s.string(
      "Directory to clone into, relative to the volume; '.' means the volume itself. Must not contain '..'.",
      { omitZero: true, rules: [matches(descendingPath)] },
    ),
  },
);

export const ImageVolumeSource = s.object(
  'ImageVolumeSource',
  'The content of an OCI image or artifact, mounted read-only.',
  {
    reference: s.string('Image or artifact to mount, in the form of a container image.', { omitZero: true }),
    pullPolicy: s.enum(
      ['Always', 'IfNotPresent', 'Never'],
      'When the image is pulled: Always, IfNotPresent or Never. Defaults to Always if the tag is latest or ' +
        'missing, otherwise to IfNotPresent.',
      { default: ({ reference }: { reference?: string }) => pullPolicyOf(reference) },
    ),
  },
);
