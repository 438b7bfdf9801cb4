import { s } from '../../schema/builders.ts';
import type { TypeOf } from '../../schema/schema.ts';

/** How a delete is to go: the body of a delete, and part of an eviction. */
export const DeleteOptions = s.object('DeleteOptions', {
  kind: s.string(),
  apiVersion: s.string(),
  gracePeriodSeconds: s.int64({ description: 'How long the object may live on; 0 ends it at once.' }),
  preconditions: s.object('Preconditions', { uid: s.string(), resourceVersion: s.string() }),
  orphanDependents: s.boolean({ description: 'The old form of propagationPolicy: true is Orphan.' }),
  propagationPolicy: s.string({
    description: 'What becomes of dependents: Orphan leaves them, Background and Foreground delete them.',
  }),
  dryRun: s.list(s.string(), { description: 'All: nothing is changed, only checked.' }),
  ignoreStoreReadErrorWithClusterBreakingPotential: s.boolean(),
});
export type DeleteOptions = TypeOf<typeof DeleteOptions>;
