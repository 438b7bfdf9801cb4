import { s } from '../../schema/builders.ts';
import type { TypeOf } from '../../schema/schema.ts';

/** A port that a container listens on. */
export const ContainerPort = s.object('ContainerPort', {
  name: s.string(),
  hostPort: s.int32(),
  containerPort: s.int32({ zero: true }),
  protocol: s.enum(['SCTP', 'TCP', 'UDP'], { default: 'TCP' }),
  hostIP: s.string(),
});
export type ContainerPort = TypeOf<typeof ContainerPort>;
