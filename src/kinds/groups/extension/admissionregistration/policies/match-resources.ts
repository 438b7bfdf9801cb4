import { s } from '../../../../../schema/builders.ts';
import { type FieldError, invalid, notSupported } from '../../../../../schema/field-error.ts';
import { pathSegment } from '../../../../../schema/names.ts';
import { unique } from '../../../../../schema/rules.ts';
import type { TypeOf } from '../../../../../schema/schema.ts';
import { LabelSelector } from '../../../../shapes/meta/label-selector.ts';
import { ruleFields, ruleIsValid } from '../rule.ts';

/** Sorted, as error messages list them. */
const MUTABLE_OPERATIONS = ['*', 'CONNECT', 'CREATE', 'UPDATE'];

const NamedRuleWithOperations = s.object(
  'NamedRuleWithOperations',
  'Operations, resources and names of objects. A request matches when it matches all of the fields.',
  {
    resourceNames: s.list(s.string(), 'Names of the objects. Defaults to all of them.', {
      rules: [namesAreValid, unique()],
    }),
    ...ruleFields,
  },
  { atomic: true, rules: [ruleIsValid] },
);

/** Selects the requests that a policy or a binding applies to. */
export const MatchResources = s.object(
  'MatchResources',
  'Requests that match: by resource, operation and labels. All of the fields must match.',
  {
    namespaceSelector: s.use(
      LabelSelector,
      'Labels of the namespaces whose objects match; of a Namespace its own labels count. Other objects without a namespace ' +
        'always match. Defaults to all.',
      { default: {} },
    ),
    objectSelector: s.use(
      LabelSelector,
      'Labels of the objects that match: those of the new object or of the old one. Clients can leave labels out to avoid a ' +
        'policy. Defaults to all.',
      { default: {} },
    ),
    resourceRules: s.list(
      NamedRuleWithOperations,
      'Requests that match: those that match any of the rules. A policy needs at least one rule.',
    ),
    excludeResourceRules: s.list(
      NamedRuleWithOperations,
      'Requests that do not match, although they match one of resourceRules.',
    ),
    matchPolicy: s.enum(
      ['Equivalent', 'Exact'],
      'Whether a rule also matches requests in another version of the same resource: Equivalent converts the object to the ' +
        'version of the rule, Exact ignores the request. Defaults to Equivalent.',
      { default: 'Equivalent' },
    ),
  },
  { atomic: true },
);
export type MatchResources = TypeOf<typeof MatchResources>;

function namesAreValid(names: readonly string[]): FieldError[] {
  return names.flatMap((text, index) => pathSegment(text).map((problem) => invalid(`[${index}]`, text, problem)));
}

/** Checks that operations are mutable: deleted objects cannot be changed. */
export function operationsAreMutable({ resourceRules = [] }: MatchResources): FieldError[] {
  return resourceRules.flatMap(({ operations = [] }) =>
    operations
      .filter((operation) => !MUTABLE_OPERATIONS.includes(operation))
      .map((operation) => notSupported('resourceRules.operations', operation, MUTABLE_OPERATIONS)),
  );
}
