/** The rules by which a FlowSchema matches requests. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, forbidden, invalid, notSupported, required, under } from '../../../schema/field-error.ts';
import { dnsLabel, dnsSubdomain } from '../../../schema/names.ts';
import type { ObjectType, Rule } from '../../../schema/schema.ts';

/** The kinds of subjects, and the field of each. */
const kinds = { Group: 'group', ServiceAccount: 'serviceAccount', User: 'user' } as const;

type SubjectKind = keyof typeof kinds;

const kindNames = Object.keys(kinds) as SubjectKind[];

const subject = {
  kind: s.string('`User`, `Group` or `ServiceAccount`. The field of the same name must be set, and no other.', {
    zero: true,
  }),
  user: s.object('UserSubject', 'Matches requests by user name.', {
    name: s.string('Name of the user, or `*` for every user. Required.', { zero: true }),
  }),
  group: s.object('GroupSubject', 'Matches requests by a group of the user.', {
    name: s.string(
      'Name of the group, or `*` for every group. system:authenticated and system:unauthenticated together cover all requests. Required.',
      { zero: true },
    ),
  }),
  serviceAccount: s.object('ServiceAccountSubject', 'Matches requests by service account.', {
    namespace: s.string('Namespace of the service account. Required.', { zero: true }),
    name: s.string('Name of the service account, or `*` for every account of the namespace. Required.', { zero: true }),
  }),
};

type Subject = ObjectType<typeof subject>;

const FlowSubject = s.object('Subject', 'A user, group or service account that sends requests.', subject, {
  rules: [fitsItsKind],
});

const WILDCARD = '*';
const knownVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'];

type Texts = readonly string[];

/** `*` must be the only entry. */
const wildcardAlone =
  (what: string): Rule<Texts> =>
  (texts) =>
    texts.includes(WILDCARD) && texts.length > 1
      ? invalid('', texts, `if '${WILDCARD}' is present, must not specify other ${what}`)
      : undefined;

const known: Rule<Texts> = (texts) =>
  texts.includes(WILDCARD) || texts.every((verb) => knownVerbs.includes(verb))
    ? undefined
    : notSupported('', texts, knownVerbs);

const verbs = s.set(
  s.string(),
  'Verbs the rule matches, such as get or list; `*` matches all and must then be the only entry. Required.',
  { required: 'verbs must contain at least one value', rules: [wildcardAlone('verbs'), known] },
);

const resourceRule = {
  verbs,
  apiGroups: s.set(
    s.string(),
    'API groups the rule matches: the empty string is the core group; `*` matches all and must then be the only entry. Required.',
    { required: 'resource rules must supply at least one api group', rules: [wildcardAlone('api groups')] },
  ),
  resources: s.set(
    s.string(),
    'Resources the rule matches, by plural name and optional subresource, such as pods or nodes/status; `*` matches all and must then be the only entry. Required.',
    { required: 'resource rules must supply at least one resource', rules: [wildcardAlone('resources')] },
  ),
  clusterScope: s.boolean(
    'Whether the rule matches requests without a namespace, such as those for cluster-scoped resources. Defaults to false.',
    { omitZero: true },
  ),
  namespaces: s.set(
    s.string(),
    'Namespaces whose requests the rule matches; `*` matches all and must then be the only entry. Required unless clusterScope is true.',
    { default: [], rules: [wildcardAlone('namespaces'), namespaceNames] },
  ),
};

const nonResourceRule = {
  verbs,
  nonResourceURLs: s.set(
    s.string(),
    'URL paths the rule matches, such as /healthz. A trailing `/*` matches everything below; `*` alone matches all paths. Required.',
    { required: 'nonResourceURLs must contain at least one value', rules: [wildcardAlone('non-resource URLs'), paths] },
  ),
};

const policyRules = {
  subjects: s.list(
    FlowSubject,
    'Users, groups and service accounts whose requests match. A request must match at least one. Required.',
    { required: 'subjects must contain at least one value' },
  ),
  resourceRules: s.list(
    s.object(
      'ResourcePolicyRule',
      'Matches requests for API resources. A request matches if it fits every field.',
      resourceRule,
      { rules: [hasScope] },
    ),
    'Requests for API resources that match. At least one of resourceRules and nonResourceRules must be set.',
  ),
  nonResourceRules: s.list(
    s.object(
      'NonResourcePolicyRule',
      'Matches requests to URL paths outside API resources. A request matches if it fits every field.',
      nonResourceRule,
    ),
    'Requests to other URL paths that match. At least one of resourceRules and nonResourceRules must be set.',
  ),
};

export const PolicyRulesWithSubjects = s.object(
  'PolicyRulesWithSubjects',
  'Matches requests by who sends them and what they ask for: at least one subject, and at least one resource or non-resource rule, must match.',
  policyRules,
  { rules: [hasRules] },
);

function hasRules({ resourceRules, nonResourceRules }: ObjectType<typeof policyRules>): FieldError | undefined {
  return resourceRules || nonResourceRules
    ? undefined
    : required('', 'at least one of resourceRules and nonResourceRules has to be non-empty');
}

function hasScope({ namespaces, clusterScope }: ObjectType<typeof resourceRule>): FieldError | undefined {
  const detail = 'resource rules that are not cluster scoped must supply at least one namespace';
  return namespaces.length > 0 || clusterScope ? undefined : required('namespaces', detail);
}

function namespaceNames(names: Texts): FieldError[] {
  if (names.includes(WILDCARD)) return [];
  const intro = "each member of this list must be '*' or a DNS-1123 label; ";
  return names.flatMap((name, index) => dnsLabel(name).map((each) => invalid(`[${index}]`, name, intro + each)));
}

function paths(texts: Texts): FieldError[] {
  if (texts.includes(WILDCARD)) return [];
  return texts.flatMap((path, index) => {
    const problem = pathProblem(path);
    return problem ? [invalid(`[${index}]`, path, problem)] : [];
  });
}

function pathProblem(path: string): string | undefined {
  if (!path) return 'must not be empty';
  if (!path.startsWith('/')) return 'must start with slash';
  if (path.includes(' ')) return 'must not contain white-space';
  if (path.includes('//')) return 'must not contain double slash';
  const star = path.indexOf(WILDCARD);
  const isSuffix = star < 0 || (star === path.length - 1 && path.endsWith('/*'));
  return isSuffix ? undefined : 'wildcard can only do suffix matching';
}

function fitsItsKind(subject: Subject): FieldError[] {
  const kind = kindNames.find((name) => name === subject.kind);
  if (!kind) return [notSupported('kind', subject.kind, kindNames)];
  const field = kinds[kind];
  const found = subject[field]
    ? under(field, identity(subject, kind))
    : [required(field, `${field} is required when subject kind is '${kind}'`)];
  for (const other of ['ServiceAccount', 'User', 'Group'] as const) {
    const name = kinds[other];
    if (other === kind || !subject[name]) continue;
    found.push(forbidden(name, `${name} is forbidden when subject kind is not '${other}'`));
  }
  return found;
}

function identity(subject: Subject, kind: SubjectKind): FieldError[] {
  const name = subject[kinds[kind]]?.name ?? '';
  const found: FieldError[] = name ? [] : [required('name')];
  if (kind !== 'ServiceAccount') return found;
  if (name && name !== '*') for (const complaint of dnsSubdomain(name)) found.push(invalid('name', name, complaint));
  const namespace = subject.serviceAccount?.namespace ?? '';
  if (!namespace) found.push(required('namespace', 'must specify namespace for service account'));
  else for (const complaint of dnsLabel(namespace)) found.push(invalid('namespace', namespace, complaint));
  return found;
}
