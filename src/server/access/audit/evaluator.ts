import type { Attributes, ResourceAttributes } from '../authz/authorizer.ts';
import type { Memo } from '../request-memos.ts';
import type { GroupResources, Level, Policy, PolicyRule, Stage } from './policy.ts';

/** The amount of detail that is recorded of a request. */
export interface Verdict {
  readonly level: Level;
  readonly omitStages: ReadonlySet<Stage>;
  readonly omitManagedFields: boolean;
}

interface Candidate {
  readonly rule: PolicyRule;
  readonly verdict: Verdict;
  /** True when it also depends on the object's name or namespace. */
  readonly conditional: boolean;
}

/** Finds the policy's rule for a request. */
export class Evaluator {
  readonly #rules: readonly { readonly rule: PolicyRule; readonly verdict: Verdict }[];
  readonly #otherwise: Verdict;

  constructor({ rules, omitStages = [], omitManagedFields = false }: Policy) {
    this.#rules = rules.map((rule) => ({
      rule,
      verdict: {
        level: rule.level,
        omitStages: new Set([...omitStages, ...(rule.omitStages ?? [])]),
        omitManagedFields: rule.omitManagedFields ?? omitManagedFields,
      },
    }));
    this.#otherwise = { level: 'None', omitStages: new Set(omitStages), omitManagedFields };
  }

  /** Finds the verdict on a request. With a memo, only rules that can match requests of this sort are tried. */
  verdictOn(attributes: Attributes, memo?: Memo): Verdict {
    if (attributes.path !== undefined || !memo) {
      return this.#rules.find(({ rule }) => matches(rule, attributes))?.verdict ?? this.#otherwise;
    }
    memo.audit ??= this.#candidatesFor(attributes);
    const candidates = memo.audit as readonly Candidate[];
    for (const { rule, verdict, conditional } of candidates) {
      if (!conditional || matchesResource(rule, attributes)) return verdict;
    }
    return this.#otherwise;
  }

  #candidatesFor(attributes: ResourceAttributes): readonly Candidate[] {
    const found: Candidate[] = [];
    for (const { rule, verdict } of this.#rules) {
      if (!matchesUserAndVerb(rule, attributes) || rule.nonResourceURLs?.length) continue;
      const groups = rule.resources?.filter((group) => includesResource(group, attributes));
      if (rule.resources?.length && !groups?.length) continue;
      const isNamed = groups?.length ? groups.every(({ resourceNames }) => resourceNames?.length) : false;
      const conditional = isNamed || (rule.namespaces?.length ?? 0) > 0;
      found.push({ rule, verdict, conditional });
      if (!conditional) break;
    }
    return found;
  }
}

function matches(rule: PolicyRule, attributes: Attributes): boolean {
  if (!matchesUserAndVerb(rule, attributes)) return false;
  if (rule.namespaces?.length || rule.resources?.length) {
    return attributes.path === undefined && matchesResource(rule, attributes);
  }
  if (!rule.nonResourceURLs?.length) return true;
  const { path } = attributes;
  return path !== undefined && rule.nonResourceURLs.some((pattern) => matchesPath(pattern, path));
}

function matchesUserAndVerb({ users, userGroups, verbs }: PolicyRule, { user, verb }: Attributes): boolean {
  if (users?.length && !users.includes(user.name)) return false;
  if (userGroups?.length && !user.groups.some((group) => userGroups.includes(group))) return false;
  return !verbs?.length || verbs.includes(verb);
}

function matchesResource({ namespaces, resources }: PolicyRule, attributes: ResourceAttributes): boolean {
  if (namespaces?.length && !namespaces.includes(attributes.namespace)) return false;
  if (!resources?.length) return true;
  return resources.some(
    (group) =>
      includesResource(group, attributes) &&
      (!group.resourceNames?.length || group.resourceNames.includes(attributes.name)),
  );
}

function includesResource({ group = '', resources }: GroupResources, attributes: ResourceAttributes): boolean {
  if (group !== attributes.group && group !== '*') return false;
  if (!resources?.length) return true;
  const { resource, subresource } = attributes;
  const name = subresource ? `${resource}/${subresource}` : resource;
  return resources.some(
    (pattern) =>
      pattern === '*' ||
      pattern === name ||
      (subresource !== '' && pattern === `*/${subresource}`) ||
      pattern === `${resource}/*`,
  );
}

function matchesPath(pattern: string, path: string): boolean {
  return pattern === '*' || pattern === path || (pattern.endsWith('*') && path.startsWith(pattern.slice(0, -1)));
}
