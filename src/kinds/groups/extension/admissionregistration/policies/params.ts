/** The objects that configure a policy: of which kind they are, and which ones a binding uses. */
import { s } from '../../../../../schema/builders.ts';
import { type FieldError, forbidden, invalid, required } from '../../../../../schema/field-error.ts';
import { dns1035Label, dnsSubdomain, pathSegment } from '../../../../../schema/names.ts';
import { matches } from '../../../../../schema/rules.ts';
import type { ObjectType, TypeOf } from '../../../../../schema/schema.ts';
import type { Sparse } from '../../../../columns/column.ts';
import { LabelSelector } from '../../../../shapes/meta/label-selector.ts';

const UNSET = '<unset>';

export const ParamKind = s.object(
  'ParamKind',
  'A kind of objects that parameterize a policy.',
  {
    apiVersion: s.string('Group and version of the kind, such as v1 or rules.example.com/v1. Required.', {
      required: true,
      rules: [apiVersionIsValid],
    }),
    kind: s.string('Name of the kind. Required.', { required: true, rules: [kindIsValid] }),
  },
  { atomic: true },
);
export type ParamKind = TypeOf<typeof ParamKind>;

/** The field of both policies. */
export const paramKind = s.use(
  ParamKind,
  'Kind of the objects that parameterize the policy, built in or custom; expressions see one as params. Without it, the ' +
    'policy has no parameters.',
);

function apiVersionIsValid(text: string): FieldError[] {
  const parts = text.split('/');
  if (parts.length > 2) return [invalid('', text, `unexpected GroupVersion string: ${text}`)];
  const version = parts.at(-1)!;
  const group = parts.length === 2 ? parts[0]! : '';
  const found: FieldError[] = [];
  const groupProblems = group ? dnsSubdomain(group) : [];
  if (groupProblems.length > 0) found.push(invalid('', group, groupProblems.join(',')));
  const versionProblems = version ? dns1035Label(version) : [];
  if (!version) found.push(invalid('', text, 'version must be specified'));
  else if (versionProblems.length > 0) found.push(invalid('', version, versionProblems.join(',')));
  return found;
}

function kindIsValid(text: string): FieldError[] {
  const problems = dns1035Label(text.toLowerCase());
  if (problems.length === 0) return [];
  return [invalid('', text, `may have mixed case, but should otherwise match: ${problems.join(',')}`)];
}

const ref = {
  name: s.string('Name of the object. Exclusive with selector; one of them is required.', {
    omitZero: true,
    rules: [matches(pathSegment)],
  }),
  namespace: s.string(
    'Namespace of the objects. Defaults to that of the request. Must be empty when the kind has no namespaces.',
    { omitZero: true },
  ),
  selector: s.use(
    LabelSelector,
    'Labels of the objects; the policy is evaluated for each of them. An empty selector selects all. Exclusive with name.',
  ),
  parameterNotFoundAction: s.enum(
    ['Deny', 'Allow'],
    'What happens when no object is found: Deny lets failurePolicy decide, Allow skips the binding. Required.',
    { required: true },
  ),
};

const ParamRef = s.object(
  'ParamRef',
  'The objects that parameterize a policy: one by its name, or some by their labels.',
  ref,
  { atomic: true, rules: [oneWayToFind] },
);
export type ParamRef = TypeOf<typeof ParamRef>;

/** The field of both bindings. */
export const paramRef = s.use(
  ParamRef,
  'Objects that parameterize the policy, of its paramKind. Without it, params is null. Ignored when the policy has no paramKind.',
);

function oneWayToFind({ name = '', selector }: ObjectType<typeof ref>): FieldError[] {
  const exclusive = 'name and selector are mutually exclusive';
  if (name && selector) return [forbidden('name', exclusive), forbidden('selector', exclusive)];
  return !name && !selector ? [required('', 'one of name or selector must be specified')] : [];
}

/** The kind of the parameters in a table. */
export const paramKindCell = (kind: Sparse<ParamKind> | undefined): string =>
  kind ? `${kind.apiVersion ?? ''}/${kind.kind ?? ''}` : UNSET;

/** Shows the parameters in a table. It is not known here if the kind is namespaced. */
export function paramRefCell(to: Sparse<ParamRef> | undefined): string {
  if (to?.name) return `${to.namespace || '*'}/${to.name}`;
  return to?.selector ? selectorText(to.selector) : UNSET;
}

/** A selector as Go prints it. */
function selectorText({ matchLabels = {}, matchExpressions = [] }: Sparse<LabelSelector>): string {
  const labels = Object.keys(matchLabels)
    .sort()
    .map((key) => `${key}: ${matchLabels[key]},`);
  const requirements = matchExpressions.map(
    ({ key = '', operator = '', values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  );
  const expressions = `[]LabelSelectorRequirement{${requirements.join('')}}`;
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},MatchExpressions:${expressions},}`;
}
