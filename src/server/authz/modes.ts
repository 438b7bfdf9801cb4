/** The authorizers by their names: the one list. */

import { alwaysAllow, alwaysDeny } from './always.ts';
import type { Authorizer } from './authorizer.ts';
import { Union } from './union.ts';

/** As `--authorization-mode` names them. */
export const authorizationModes = ['Node', 'RBAC', 'Webhook', 'AlwaysAllow', 'AlwaysDeny'] as const;
export type AuthorizationMode = (typeof authorizationModes)[number];

/** Made when a mode wants it. */
export interface Sorts {
  readonly node: () => Authorizer;
  readonly rbac: () => Authorizer;
  readonly webhook: () => Authorizer;
}

/** Asks them in the order in which they are named. */
export function createAuthorizer(modes: readonly AuthorizationMode[], sorts: Sorts): Authorizer {
  if (modes.length === 1 && modes[0] === 'AlwaysAllow') return alwaysAllow;
  return new Union(modes.map((mode) => authorizerOf(mode, sorts)));
}

function authorizerOf(mode: AuthorizationMode, sorts: Sorts): Authorizer {
  switch (mode) {
    case 'Node':
      return sorts.node();
    case 'RBAC':
      return sorts.rbac();
    case 'Webhook':
      return sorts.webhook();
    case 'AlwaysAllow':
      return alwaysAllow;
    case 'AlwaysDeny':
      return alwaysDeny;
    default:
      return mode satisfies never;
  }
}
