import { s } from '../../../../../schema/builders.ts';
import { required } from '../../../../../schema/field-error.ts';
import { dnsSubdomain } from '../../../../../schema/names.ts';
import { matches } from '../../../../../schema/rules.ts';
import { MatchResources } from './match-resources.ts';
import { paramRef } from './params.ts';

/** Maximum number of expressions in a list of a policy: compiling them blocks all other requests. */
export const MAX_EXPRESSIONS = 250;

/** Reaction to a policy that cannot be evaluated, in both kinds of policies. */
export const failurePolicy = s.enum(
  ['Fail', 'Ignore'],
  'What happens when the policy cannot be evaluated (an expression fails, parameters are missing): Fail rejects the request, ' +
    'Ignore goes on without the policy. Defaults to Fail.',
  { default: 'Fail' },
);

/** Selects the requests that a policy applies to, in both kinds of policies. */
export const matchConstraints = s.use(
  MatchResources,
  'Requests that the policy applies to. Webhook configurations and admission policies are never among them. Required.',
  { required: true, rules: [hasRule] },
);

function hasRule({ resourceRules = [] }: MatchResources) {
  return resourceRules.length === 0 ? required('resourceRules') : undefined;
}

/** The fields of both kinds of bindings. */
export const bindingFields = {
  policyName: s.string('Name of the policy. A binding whose policy does not exist has no effect. Required.', {
    zero: true,
    required: true,
    rules: [matches(dnsSubdomain)],
  }),
  paramRef,
  matchResources: s.use(
    MatchResources,
    'Requests that the binding applies to, out of those that the policy applies to. Defaults to all of them.',
  ),
};
