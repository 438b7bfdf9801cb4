/** Reports whether a role's rule allows a request. Allocates nothing. */
import type { PolicyRule } from '../../../../kinds/groups/access/rbac/policy-rule.ts';
import type { Attributes, ResourceAttributes } from '../authorizer.ts';

export function ruleAllows(rule: PolicyRule, attributes: Attributes): boolean {
  if (!allowsVerb(rule, attributes.verb)) return false;
  if (attributes.path !== undefined) return allowsPath(rule, attributes.path);
  return allowsResource(rule, attributes) && allowsName(rule, attributes.name);
}

export function allowsVerb({ verbs }: PolicyRule, verb: string): boolean {
  for (const each of verbs ?? []) if (each === '*' || each === verb) return true;
  return false;
}

/** Reports whether a rule allows access to a resource, regardless of the object's name. */
export function allowsResource(
  { apiGroups = [], resources = [] }: PolicyRule,
  { group, resource, subresource }: Pick<ResourceAttributes, 'group' | 'resource' | 'subresource'>,
): boolean {
  if (!apiGroups.includes('*') && !apiGroups.includes(group)) return false;
  for (const each of resources) {
    if (each === '*') return true;
    if (subresource === '') {
      if (each === resource) return true;
      continue;
    }
    // Matches `pods/log`, or `*/log` for this subresource of every resource.
    if (each.length < subresource.length + 2 || !each.endsWith(subresource)) continue;
    const slash = each.length - subresource.length - 1;
    if (each[slash] !== '/') continue;
    if (slash === 1 && each[0] === '*') return true;
    if (slash === resource.length && each.startsWith(resource)) return true;
  }
  return false;
}

/** Checks the name. A rule with resource names does not allow requests without a name: lists and creates. */
function allowsName({ resourceNames }: PolicyRule, name: string): boolean {
  return !resourceNames?.length || resourceNames.includes(name);
}

export function allowsPath({ nonResourceURLs = [] }: PolicyRule, path: string): boolean {
  for (const each of nonResourceURLs) if (each === path || coversPath(each, path)) return true;
  return false;
}

/** Matches a path: `/healthz/*` matches every path that starts with `/healthz/`. */
export function coversPath(pattern: string, path: string): boolean {
  if (!pattern.endsWith('*')) return pattern === path;
  let end = pattern.length - 1;
  while (end > 0 && pattern[end - 1] === '*') end--;
  return path.startsWith(end === pattern.length ? pattern : pattern.slice(0, end));
}
