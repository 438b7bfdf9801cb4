import type { Kind } from '../../../../kinds/kind.ts';

const POLICIES = new Set([
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
]);
/** Groups of reviews, which are not stored: policies could prevent the server from using them. */
const REVIEW_GROUPS = new Set(['authentication.k8s.io', 'authorization.k8s.io']);

/** Reports whether policies do not apply to a kind. A policy must never prevent its own repair. */
export function isExempt({ group, plural }: Kind): boolean {
  return (group === 'admissionregistration.k8s.io' && POLICIES.has(plural)) || REVIEW_GROUPS.has(group);
}
