import { ALLOW, type Authorizer, type Decision, NO_RULES } from './authorizer.ts';
import { Union } from './union.ts';

/** The values of `--authorization-mode`. */
export const authorizationModes = ['Node', 'RBAC', 'Webhook', 'AlwaysAllow', 'AlwaysDeny'] as const;
export type AuthorizationMode = (typeof authorizationModes)[number];

interface AuthorizerFactories {
  readonly node: () => Authorizer;
  readonly rbac: () => Authorizer;
  readonly webhook: () => Authorizer;
}

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

const EVERYTHING = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
  incomplete: false,
};

export const alwaysAllow: Authorizer = {
  authorize: () => ALLOW,
  rulesFor: () => EVERYTHING,
};

const NOTHING_ALLOWED: Decision = Object.freeze({ verdict: 'noOpinion', reason: 'Everything is forbidden.' });

/** Has no opinion instead of denying, so that other authorizers may still allow a request. */
export const alwaysDeny: Authorizer = {
  authorize: () => NOTHING_ALLOWED,
  rulesFor: () => NO_RULES,
};
