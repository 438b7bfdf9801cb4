/** How a container sees the pod's volumes. */
import { s } from '../../schema/builders.ts';
import type { TypeOf } from '../../schema/schema.ts';

export const VolumeMount = s.object('VolumeMount', {
  name: s.string({ zero: true }),
  readOnly: s.boolean(),
  recursiveReadOnly: s.string(),
  mountPath: s.string({ zero: true }),
  subPath: s.string(),
  mountPropagation: s.string(),
  subPathExpr: s.string(),
});
export type VolumeMount = TypeOf<typeof VolumeMount>;

export const VolumeDevice = s.object('VolumeDevice', {
  name: s.string({ zero: true }),
  devicePath: s.string({ zero: true }),
});
export type VolumeDevice = TypeOf<typeof VolumeDevice>;
