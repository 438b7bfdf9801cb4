/** Whether rules cover other rules, so that nobody can grant permissions they do not have. */
import type { PolicyRule } from '../../../kinds/groups/rbac/policy-rule.ts';
import { coversPath } from './rule.ts';

/** What `wanted` allows and `held` does not, split into single permissions: one verb on one resource or path. */
export function uncovered(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  return wanted.flatMap(split).filter((part) => !held.some((rule) => covers(rule, part)));
}

/** Describes rules for an error message, with the verbs of one resource combined. */
export function describeRules(rules: readonly PolicyRule[]): string[] {
  const combined = new Map<string, PolicyRule>();
  for (const rule of rules) {
    const key = JSON.stringify([rule.apiGroups, rule.resources, rule.resourceNames, rule.nonResourceURLs]);
    const known = rule.nonResourceURLs ? undefined : combined.get(key);
    if (known) known.verbs = [...known.verbs, ...rule.verbs];
    else combined.set(rule.nonResourceURLs ? `${key}${rule.verbs}` : key, { ...rule });
  }
  return [...new Set([...combined.values()].map(describe))].sort();
}

function split({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): PolicyRule[] {
  const found: PolicyRule[] = [];
  const names = resourceNames?.length ? resourceNames.map((name) => ({ resourceNames: [name] })) : [{}];
  for (const group of apiGroups ?? []) {
    for (const resource of resources ?? []) {
      for (const verb of verbs) {
        for (const name of names) found.push({ verbs: [verb], apiGroups: [group], resources: [resource], ...name });
      }
    }
  }
  for (const path of nonResourceURLs ?? []) {
    for (const verb of verbs) found.push({ verbs: [verb], nonResourceURLs: [path] });
  }
  return found;
}

/** `part` is one that `split` returned. */
function covers(rule: PolicyRule, part: PolicyRule): boolean {
  return (
    has(rule.verbs, part.verbs) &&
    has(rule.apiGroups, part.apiGroups) &&
    coversResource(rule.resources ?? [], part.resources?.[0]) &&
    coversNames(rule.resourceNames, part.resourceNames) &&
    (part.nonResourceURLs ?? []).every((path) => rule.nonResourceURLs?.some((owned) => coversPath(owned, path)))
  );
}

function has(owned: readonly string[] = [], wanted: readonly string[] = []): boolean {
  return owned.includes('*') || wanted.every((each) => owned.includes(each));
}

function coversResource(owned: readonly string[], wanted: string | undefined): boolean {
  if (wanted === undefined || owned.includes('*') || owned.includes(wanted)) return true;
  const slash = wanted.indexOf('/');
  return slash >= 0 && owned.includes(`*${wanted.slice(slash)}`);
}

function coversNames(owned: readonly string[] = [], wanted: readonly string[] = []): boolean {
  if (owned.length === 0) return true;
  return wanted.length > 0 && wanted.every((name) => owned.includes(name));
}

function describe({ apiGroups, resources, nonResourceURLs, resourceNames, verbs }: PolicyRule): string {
  const parts = Object.entries({
    APIGroups: apiGroups,
    Resources: resources,
    NonResourceURLs: nonResourceURLs,
    ResourceNames: resourceNames,
    Verbs: verbs,
  });
  const shown = parts.flatMap(([name, values]) => (values?.length ? `${name}:${quoted(values)}` : []));
  return `{${shown.join(', ')}}`;
}

/** A list in Go's `%q` format: `["a" "b"]`. */
export function quoted(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(' ')}]`;
}
