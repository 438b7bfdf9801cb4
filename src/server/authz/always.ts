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

const REFUSED: Decision = Object.freeze({ verdict: 'noOpinion', reason: 'Everything is forbidden.' });

/** Without an opinion, so that others may still allow something. */
export const alwaysDeny: Authorizer = {
  authorize: () => REFUSED,
  rulesFor: () => NO_RULES,
};
