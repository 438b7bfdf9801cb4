/**
 * Who may do what: roles with rules, and bindings that give roles to users, groups and service accounts. What a server
 * makes of them is not here.
 */
import { deprecation } from '../../deprecation.ts';
import type { VersionDefinition } from '../../kind.ts';

export const GROUP = 'rbac.authorization.k8s.io';

/** Every kind of the group is served in these, and they say the same. */
export const versionsOf = (kind: string): Readonly<Record<string, VersionDefinition>> => ({
  [`${GROUP}/v1`]: {},
  [`${GROUP}/v1beta1`]: { deprecated: deprecation(`${GROUP}/v1beta1`, kind) },
});
