/** Compares templates of a Deployment and its ReplicaSets, without the hash label. */

import type { DeepReadonly } from '../../../api/object-types.ts';
import { memoizedPair } from '../../../base/collections/pair-memo.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import type { Deployment } from '../../../kinds/groups/apps/deployment.ts';

export const HASH_LABEL = 'pod-template-hash';

type Template = DeepReadonly<Deployment['spec']['template']>;

/**
 * Compares templates. Every plan compares the template with those of all ReplicaSets, and a template may have
 * megabytes.
 */
export const sameTemplate = memoizedPair((a: Template, b: Template): boolean => {
  return deepEqual(withoutHash(a), withoutHash(b));
});

export function withoutHash(template: Template): Template {
  const { labels } = template.metadata ?? {};
  if (labels?.[HASH_LABEL] === undefined) return template;
  const { [HASH_LABEL]: _, ...rest } = labels;
  return { ...template, metadata: { ...template.metadata, labels: rest } };
}
