/** The single list of virtual resources. */
import type { Kind } from '../../../kinds/kind.ts';
import {
  localSubjectAccessReview,
  selfSubjectAccessReview,
  selfSubjectRulesReview,
  subjectAccessReview,
} from './access-reviews.ts';
import { binding } from './binding.ts';
import { componentStatus } from './computed.ts';
import { nodeMetrics, podMetrics } from './metrics.ts';
import { selfSubjectReview, tokenReview } from './review.ts';
import type { VirtualResource } from './virtual-resource.ts';

export const virtualResources: readonly VirtualResource[] = [
  binding,
  componentStatus,
  localSubjectAccessReview,
  nodeMetrics,
  podMetrics,
  selfSubjectAccessReview,
  selfSubjectReview,
  selfSubjectRulesReview,
  subjectAccessReview,
  tokenReview,
];

const byKind = new Map<Kind, VirtualResource>(virtualResources.map((virtual) => [virtual.kind, virtual]));

/** Returns the operations of a virtual resource; undefined for a kind that is stored. */
export function virtualOperations(kind: Kind): VirtualResource['operations'] | undefined {
  return byKind.get(kind)?.operations;
}
