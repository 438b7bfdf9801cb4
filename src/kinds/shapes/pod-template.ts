import { s } from '../../schema/builders.ts';
import type { TypeOf } from '../../schema/schema.ts';
import { ObjectMeta } from './object-meta.ts';
import { PodSpec } from './pod-spec.ts';

/** The pods that a controller makes. */
export const PodTemplateSpec = s.object('PodTemplateSpec', {
  metadata: s.use(ObjectMeta, { default: {}, description: 'Labels and annotations that every such pod gets.' }),
  spec: s.use(PodSpec, { default: {}, description: 'What every such pod consists of.' }),
});
export type PodTemplateSpec = TypeOf<typeof PodTemplateSpec>;
