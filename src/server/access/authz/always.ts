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

/** Has no opinion rather than denying, so that other authorizers may still allow something. */
export const alwaysDeny: Authorizer = {
  authorize: () => NOTHING_ALLOWED,
  rulesFor: () => NO_RULES,
};
