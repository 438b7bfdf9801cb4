/** Whether a request belongs to a flow schema. */
import type { FlowSchema } from '../../kinds/groups/flowcontrol/flow-schema.ts';
import type { User } from '../api.ts';
import type { Attributes, ResourceAttributes } from '../authz/authorizer.ts';

type Rule = NonNullable<FlowSchema['spec']['rules']>[number];
type Subject = Rule['subjects'][number];
type ResourceRule = NonNullable<Rule['resourceRules']>[number];

type PathAttributes = Exclude<Attributes, ResourceAttributes>;

const ALL = '*';

/** `always`: whatever the namespace. `depends`: for some of them. */
export type Belonging = 'always' | 'depends' | 'never';

/** What can be said without knowing the namespace. */
export function belonging(rules: readonly Rule[], attributes: ResourceAttributes): Belonging {
  let found: Belonging = 'never';
  for (const { subjects, resourceRules = [] } of rules) {
    if (!isSubject(subjects, attributes.user)) continue;
    for (const rule of resourceRules) {
      if (!isAbout(rule, attributes)) continue;
      if (rule.clusterScope && holds(rule.namespaces, ALL)) return 'always';
      found = 'depends';
    }
  }
  return found;
}

export function belongs(rules: readonly Rule[], attributes: Attributes): boolean {
  return rules.some(({ subjects, resourceRules = [], nonResourceRules = [] }) => {
    if (!isSubject(subjects, attributes.user)) return false;
    if (attributes.path !== undefined) return nonResourceRules.some((rule) => isAtPath(rule, attributes));
    return resourceRules.some((rule) => isAbout(rule, attributes) && isWithin(rule, attributes.namespace));
  });
}

function isSubject(subjects: readonly Subject[], { name, groups }: User): boolean {
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

function isAbout(rule: ResourceRule, { verb, group, resource, subresource }: ResourceAttributes): boolean {
  const whole = subresource ? `${resource}/${subresource}` : resource;
  return holds(rule.verbs, verb) && holds(rule.resources, whole) && holds(rule.apiGroups, group);
}

function isWithin({ clusterScope, namespaces }: ResourceRule, namespace: string): boolean {
  return namespace === '' ? clusterScope === true : holds(namespaces, namespace);
}

function isAtPath(rule: NonNullable<Rule['nonResourceRules']>[number], { verb, path }: PathAttributes): boolean {
  if (!holds(rule.verbs, verb)) return false;
  return rule.nonResourceURLs.some((pattern) => {
    if (pattern === ALL || pattern === path) return true;
    const prefix = pattern.endsWith(ALL) ? pattern.slice(0, -1) : pattern;
    return path.startsWith(prefix.endsWith('/') ? prefix : `${prefix}/`);
  });
}

function holds(list: readonly string[], text: string): boolean {
  return list.includes(text) || list[0] === ALL;
}
