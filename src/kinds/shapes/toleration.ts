import { s } from '../../schema/builders.ts';
import type { TypeOf } from '../../schema/schema.ts';

/** Lets a pod onto nodes with a matching taint. */
export const Toleration = s.object('Toleration', {
  key: s.string({ description: 'The taint it is for; without a key, every taint (and the operator must be Exists).' }),
  operator: s.string({ description: 'Equal compares values and is the default; Exists takes any value.' }),
  value: s.string(),
  effect: s.string({ description: 'The effect it is for; without one, every effect.' }),
  tolerationSeconds: s.int64({ description: 'With NoExecute: how long the pod may stay once the taint is there.' }),
});
export type Toleration = TypeOf<typeof Toleration>;
