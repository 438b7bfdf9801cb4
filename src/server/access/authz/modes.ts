/** The available authorizers. */
import { alwaysAllow, alwaysDeny } from './always.ts';
import type { Authorizer } from './authorizer.ts';
import { Union } from './union.ts';

/** The values of `--authorization-mode`. */
export const authorizationModes = ['Node', 'RBAC', 'Webhook', 'AlwaysAllow', 'AlwaysDeny'] as const;
export type AuthorizationMode = (typeof authorizationModes)[number];

/** Creates the authorizers of the modes. */
export interface AuthorizerFactories {
  readonly node: () => Authorizer;
  readonly rbac: () => Authorizer;
  readonly webhook: () => Authorizer;
}

/** Creates an authorizer that asks those of the modes in order. */
export function createAuthorizer(modes: readonly AuthorizationMode[], factories: AuthorizerFactories): Authorizer {
  if (modes.length === 1 && modes[0] === 'AlwaysAllow') return alwaysAllow;
  return new Union(modes.map((mode) => authorizerOf(mode, factories)));
}

function authorizerOf(mode: AuthorizationMode, factories: AuthorizerFactories): Authorizer {
  switch (mode) {
    case 'Node':
      return factories.node();
    case 'RBAC':
      return factories.rbac();
    case 'Webhook':
      return factories.webhook();
    case 'AlwaysAllow':
      return alwaysAllow;
    case 'AlwaysDeny':
      return alwaysDeny;
    default:
      return mode satisfies never;
  }
}
