import { ALLOW, type Authorizer, type Decision, NO_RULES } from './authorizer.ts';

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
