/**
 * The group and the versions of the RBAC kinds.
 */
import { deprecation } from '../../../deprecation.ts';
import type { VersionDefinition } from '../../../kind.ts';

export const GROUP = 'rbac.authorization.k8s.io';

/** Declares the versions of a kind of the group: both have the same fields. */
export const versionsOf = (kind: string): Readonly<Record<string, VersionDefinition>> => ({
  [`${GROUP}/v1`]: {},
  [`${GROUP}/v1beta1`]: { deprecated: deprecation(`${GROUP}/v1beta1`, kind) },
});
