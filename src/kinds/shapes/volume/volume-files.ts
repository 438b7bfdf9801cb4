/** The files of volumes that the cluster writes: from keys of a ConfigMap or Secret, and from fields of the pod. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid, required } from '../../../schema/field-error.ts';
import { matches } from '../../../schema/rules.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { FileFieldSelector, FileResourceSelector } from '../meta/field-selectors.ts';
import { projectedPath } from '../meta/paths.ts';

/** Read for all, write for the owner. */
const READABLE = 0o644;

function permissions(mode: number): FieldError | undefined {
  if (mode >= 0 && mode <= 0o777) return undefined;
  return invalid('', mode, 'must be a number between 0 and 0777 (octal), both inclusive');
}

const mode = s.int32({ rules: [permissions] });
export const defaultMode = s.int32({ default: READABLE, rules: [permissions] });

const path = s.string({ required: true, rules: [matches(projectedPath)] });

const keyToPath = { key: s.string({ required: true }), path, mode };

export const KeysToPaths = s.list(s.object('KeyToPath', keyToPath));

const file = { path, fieldRef: FileFieldSelector, resourceFieldRef: FileResourceSelector, mode };
type DownwardAPIVolumeFile = ObjectType<typeof file>;

export const DownwardAPIFiles = s.list(s.object('DownwardAPIVolumeFile', file, { rules: [oneField] }));

function oneField({ fieldRef, resourceFieldRef }: DownwardAPIVolumeFile): FieldError | undefined {
  if (!fieldRef && !resourceFieldRef) return required('', 'one of fieldRef and resourceFieldRef is required');
  if (!fieldRef || !resourceFieldRef) return undefined;
  return invalid('', 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously');
}
