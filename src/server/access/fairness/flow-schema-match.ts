import type { User } from '../../../api/user.ts';
import type { FlowSchema } from '../../../kinds/groups/flowcontrol/flow-schema.ts';
import type { Attributes, ResourceAttributes } from '../authz/authorizer.ts';

type Rule = NonNullable<FlowSchema['spec']['rules']>[number];
type Subject = Rule['subjects'][number];
type ResourceRule = NonNullable<Rule['resourceRules']>[number];

type PathAttributes = Exclude<Attributes, ResourceAttributes>;

const ALL = '*';

/** Result of matching without the namespace: the rules match in every namespace, in some, or in none. */
type NamespaceMatch = 'always' | 'sometimes' | 'never';

/** Matches the rules with a request, regardless of its namespace. */
export function matchInAnyNamespace(rules: readonly Rule[], attributes: ResourceAttributes): NamespaceMatch {
  let match: NamespaceMatch = 'never';
  for (const { subjects, resourceRules = [] } of rules) {
    if (!matchesSubject(subjects, attributes.user)) continue;
    for (const rule of resourceRules) {
      if (!matchesResource(rule, attributes)) continue;
      if (rule.clusterScope && includes(rule.namespaces, ALL)) return 'always';
      match = 'sometimes';
    }
  }
  return match;
}

export function matches(rules: readonly Rule[], attributes: Attributes): boolean {
  return rules.some(({ subjects, resourceRules = [], nonResourceRules = [] }) => {
    if (!matchesSubject(subjects, attributes.user)) return false;
    if (attributes.path !== undefined) return nonResourceRules.some((rule) => matchesPath(rule, attributes));
    return resourceRules.some(
      (rule) => matchesResource(rule, attributes) && matchesNamespace(rule, attributes.namespace),
    );
  });
}

function matchesSubject(subjects: readonly Subject[], { name, groups }: User): boolean {
  return subjects.some(({ kind, user, group, serviceAccount }) => {
    switch (kind) {
      case 'User':
        return user?.name === ALL || user?.name === name;
      case 'Group':
        return group !== undefined && (group.name === ALL || groups.includes(group.name));
      case 'ServiceAccount': {
        const prefix = `system:serviceaccount:${serviceAccount?.namespace}:`;
        if (serviceAccount?.name === ALL) return name.startsWith(prefix);
        return name === `${prefix}${serviceAccount?.name}`;
      }
      default:
        return false;
    }
  });
}

function matchesResource(rule: ResourceRule, { verb, group, resource, subresource }: ResourceAttributes): boolean {
  const name = subresource ? `${resource}/${subresource}` : resource;
  return includes(rule.verbs, verb) && includes(rule.resources, name) && includes(rule.apiGroups, group);
}

function matchesNamespace({ clusterScope, namespaces }: ResourceRule, namespace: string): boolean {
  return namespace === '' ? clusterScope === true : includes(namespaces, namespace);
}

function matchesPath(rule: NonNullable<Rule['nonResourceRules']>[number], { verb, path }: PathAttributes): boolean {
  if (!includes(rule.verbs, verb)) return false;
  return rule.nonResourceURLs.some((pattern) => {
    if (pattern === ALL || pattern === path) return true;
    const prefix = pattern.endsWith(ALL) ? pattern.slice(0, -1) : pattern;
    return path.startsWith(prefix.endsWith('/') ? prefix : `${prefix}/`);
  });
}

function includes(list: readonly string[], value: string): boolean {
  return list.includes(value) || list[0] === ALL;
}
