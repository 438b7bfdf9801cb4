/** The audit policy file, in the format of audit.k8s.io/v1: which requests are recorded, and with how much detail. */
import { addAll } from '../../../base/collections/add-all.ts';
import { dnsSubdomain } from '../../../schema/names.ts';

export const levels = ['None', 'Metadata', 'Request', 'RequestResponse'] as const;
export type Level = (typeof levels)[number];

const stages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const;
export type Stage = (typeof stages)[number];

export interface GroupResources {
  /** The group: empty for the core group, `*` for every group. */
  readonly group?: string;
  /** The resources: `pods`, `pods/log`, `pods/*`, any scale, `*`; empty for every resource of the group. */
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
}

/** The level for matching requests. The first matching rule applies. */
export interface PolicyRule {
  readonly level: Level;
  readonly users?: readonly string[];
  readonly userGroups?: readonly string[];
  readonly verbs?: readonly string[];
  readonly resources?: readonly GroupResources[];
  /** The namespaces; the empty string stands for cluster-scoped resources. */
  readonly namespaces?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly omitStages?: readonly Stage[];
  readonly omitManagedFields?: boolean;
}

export interface Policy {
  readonly rules: readonly PolicyRule[];
  readonly omitStages?: readonly Stage[];
  readonly omitManagedFields?: boolean;
}

export class PolicyError extends Error {
  override readonly name = 'PolicyError';
}

const POLICY_FIELDS = new Set(['apiVersion', 'kind', 'metadata', 'rules', 'omitStages', 'omitManagedFields']);
const LISTS = ['users', 'userGroups', 'verbs', 'namespaces', 'nonResourceURLs', 'omitStages'];
const RULE_FIELDS = new Set(['level', 'resources', 'omitManagedFields', ...LISTS]);
const GROUP_LISTS = ['resources', 'resourceNames'];
const GROUP_FIELDS = new Set(['group', ...GROUP_LISTS]);

type Tree = Readonly<Record<string, unknown>>;

/** Validates the parsed file. Throws a PolicyError that lists every problem. */
export function parsePolicy(content: unknown): Policy {
  const tree = mapOf(content, 'the policy');
  if (tree.kind !== 'Policy' || tree.apiVersion !== 'audit.k8s.io/v1') {
    throw new PolicyError(`expected kind Policy of audit.k8s.io/v1, found ${tree.kind} of ${tree.apiVersion}`);
  }
  const problems = [
    ...unknownFields(tree, POLICY_FIELDS, ''),
    ...textLists(tree, ['omitStages'], ''),
    ...flagProblems(tree, ''),
  ];
  const { rules } = tree;
  if (!Array.isArray(rules) || rules.length === 0) problems.push('rules: at least one is required');
  else for (const [index, rule] of rules.entries()) addAll(problems, ruleProblems(rule, `rules[${index}]`));
  if (problems.length === 0) addAll(problems, stageProblems(tree.omitStages, 'omitStages'));
  if (problems.length > 0) throw new PolicyError(problems.join('; '));
  return tree as unknown as Policy;
}

function ruleProblems(rule: unknown, at: string): string[] {
  if (!isMap(rule)) return [`${at}: must be an object`];
  const problems = [
    ...unknownFields(rule, RULE_FIELDS, `${at}.`),
    ...textLists(rule, LISTS, `${at}.`),
    ...flagProblems(rule, `${at}.`),
  ];
  const { level, resources, nonResourceURLs, namespaces } = rule;
  if (level === undefined) problems.push(`${at}.level: Required value`);
  else if (!levels.some((known) => known === level)) {
    problems.push(`${at}.level: Unsupported value: ${JSON.stringify(level)}: supported values: ${quoted(levels)}`);
  }
  if (resources !== undefined && !Array.isArray(resources)) problems.push(`${at}.resources: must be a list`);
  if (problems.length > 0) return problems;
  const groups = (resources ?? []) as unknown[];
  for (const [index, group] of groups.entries()) addAll(problems, groupProblems(group, `${at}.resources[${index}]`));
  const paths = (nonResourceURLs ?? []) as string[];
  for (const [index, path] of paths.entries()) addAll(problems, pathProblems(path, `${at}.nonResourceURLs[${index}]`));
  if (paths.length > 0 && (groups.length > 0 || (namespaces as string[] | undefined)?.length)) {
    problems.push(`${at}.nonResourceURLs: rules cannot apply to both regular resources and non-resource URLs`);
  }
  return [...problems, ...stageProblems(rule.omitStages, `${at}.omitStages`)];
}

function groupProblems(entry: unknown, at: string): string[] {
  if (!isMap(entry)) return [`${at}: must be an object`];
  const problems = [...unknownFields(entry, GROUP_FIELDS, `${at}.`), ...textLists(entry, GROUP_LISTS, `${at}.`)];
  if (problems.length > 0) return problems;
  const { group = '', resources = [], resourceNames = [] } = entry as GroupResources;
  if (typeof group !== 'string') return [`${at}.group: must be a string`];
  if (group !== '' && group !== '*')
    addAll(
      problems,
      dnsSubdomain(group).map((why) => `${at}.group: ${why}`),
    );
  if (resourceNames.length > 0 && resources.length === 0) {
    problems.push(`${at}.resourceNames: using resourceNames requires at least one resource`);
  }
  return problems;
}

function pathProblems(path: string, at: string): string[] {
  if (path === '*') return [];
  const problems: string[] = [];
  if (!path.startsWith('/')) problems.push(`${at}: non-resource URL rules must begin with a '/' character`);
  if (path.slice(0, -1).includes('*')) {
    problems.push(`${at}: non-resource URL wildcards '*' must be the final character of the rule`);
  }
  return problems;
}

function stageProblems(given: unknown, at: string): string[] {
  return ((given ?? []) as string[]).flatMap((stage, index) =>
    stages.some((known) => known === stage) ? [] : [`${at}[${index}]: allowed stages are ${stages.join(',')}`],
  );
}

function unknownFields(tree: Tree, known: ReadonlySet<string>, at: string): string[] {
  return Object.keys(tree).flatMap((field) => (known.has(field) ? [] : [`${at}${field}: unknown field`]));
}

function textLists(tree: Tree, fields: readonly string[], at: string): string[] {
  return fields.flatMap((field) => {
    const value = tree[field];
    const isFine = value === undefined || (Array.isArray(value) && value.every((text) => typeof text === 'string'));
    return isFine ? [] : [`${at}${field}: must be a list of strings`];
  });
}

function flagProblems({ omitManagedFields: flag }: Tree, at: string): string[] {
  return flag === undefined || typeof flag === 'boolean' ? [] : [`${at}omitManagedFields: must be true or false`];
}

function mapOf(value: unknown, what: string): Tree {
  if (isMap(value)) return value;
  throw new PolicyError(`${what} must be an object`);
}

function isMap(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function quoted(texts: readonly string[]): string {
  return texts.map((text) => `"${text}"`).join(', ');
}

/** Resources that are written constantly and would fill the log. */
const FREQUENT_RESOURCES = [
  { group: 'coordination.k8s.io', resources: ['leases'] },
  { group: '', resources: ['events'] },
  { group: 'events.k8s.io', resources: ['events'] },
];

const ACCESS_RESOURCES = [
  { group: 'rbac.authorization.k8s.io' },
  { group: 'authorization.k8s.io' },
  { group: 'authentication.k8s.io' },
  { group: 'certificates.k8s.io' },
];

/** Subresources that lead into containers or past the API. Some are opened with a get. */
const CONNECT_SUBRESOURCES = [
  'pods/exec',
  'pods/attach',
  'pods/portforward',
  'pods/proxy',
  'services/proxy',
  'nodes/proxy',
];

/** The cluster's own components, whose requests depend on the size of the cluster instead of user activity. */
const COMPONENTS = {
  users: ['system:kube-scheduler', 'system:kube-controller-manager', 'system:kube-proxy', 'system:apiserver'],
  userGroups: ['system:nodes', 'system:serviceaccounts:kube-system'],
};

/** Splits a rule into one for users and one for groups: within a single rule, both would have to match. */
const ofComponents = (rule: object) => [
  { level: 'None' as const, users: COMPONENTS.users, ...rule },
  { level: 'None' as const, userGroups: COMPONENTS.userGroups, ...rule },
];

/** The default policy: who wrote what, and who read or wrote secrets, tokens and access rules; never their content. */
export const defaultPolicy: Policy = {
  omitStages: ['RequestReceived'],
  rules: [
    ...ofComponents({ verbs: ['watch'] }),
    ...ofComponents({ resources: FREQUENT_RESOURCES }),
    ...ofComponents({
      verbs: ['update', 'patch'],
      resources: [{ group: '', resources: ['nodes/status', 'pods/status'] }],
    }),
    {
      level: 'Metadata',
      resources: [{ group: '', resources: ['secrets', 'serviceaccounts/token', ...CONNECT_SUBRESOURCES] }],
    },
    { level: 'Metadata', resources: ACCESS_RESOURCES },
    { level: 'Metadata', verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'] },
    { level: 'None' },
  ],
};
