/** Files of projected volumes: from keys of a ConfigMap or Secret, and from fields of the pod. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, required } from '../../../schema/field-error.ts';
import { matches } from '../../../schema/rules.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { FileFieldSelector, FileResourceSelector } from '../meta/field-selectors.ts';
import { projectedPath } from '../meta/paths.ts';

/** Readable by everybody, writable by the owner. */
const DEFAULT_MODE = 0o644;

function permissions(mode: number): FieldError | undefined {
  if (mode >= 0 && mode <= 0o777) return undefined;
  return invalid('', mode, 'must be a number between 0 and 0777 (octal), both inclusive');
}

const mode = s.int32(
  'Permission bits of the file, from 0 to 0777; in JSON as a decimal number. Defaults to the default mode ' +
    'of the volume.',
  { rules: [permissions] },
);
export const defaultMode = s.int32(
  'Permission bits of files that have no mode of their own, from 0 to 0777; in JSON as a decimal number. ' +
    'Defaults to 0644.',
  { default: DEFAULT_MODE, rules: [permissions] },
);

const path = s.string("Path of the file, relative to the volume. Must not contain '..'.", {
  required: true,
  rules: [matches(projectedPath)],
});

const keyToPath = {
  key: s.string('Key whose value becomes the content of the file.', { required: true }),
  path,
  mode,
};

export const KeysToPaths = s.list(
  s.object('KeyToPath', 'Maps a key of a ConfigMap or Secret to a file.', keyToPath),
  'Keys to project, and the paths of their files. If empty, every key becomes a file of its own name.',
);

const file = {
  path,
  fieldRef: s.use(
    FileFieldSelector,
    'Field of the pod: metadata.name, metadata.namespace, metadata.uid, metadata.labels or ' +
      'metadata.annotations, or one label or annotation by key.',
  ),
  resourceFieldRef: FileResourceSelector,
  mode,
};
type DownwardAPIVolumeFile = ObjectType<typeof file>;

export const DownwardAPIFiles = s.list(
  s.object(
    'DownwardAPIVolumeFile',
    'A file with a field of the pod or a resource of a container. Exactly one of fieldRef and ' +
      'resourceFieldRef must be set.',
    file,
    { rules: [oneField] },
  ),
  'Files to create, each with its path and its source.',
);

function oneField({ fieldRef, resourceFieldRef }: DownwardAPIVolumeFile): FieldError | undefined {
  if (!fieldRef && !resourceFieldRef) return required('', 'one of fieldRef and resourceFieldRef is required');
  if (!fieldRef || !resourceFieldRef) return undefined;
  return invalid('', 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously');
}
