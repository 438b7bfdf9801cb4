/** Checks whether rules cover other rules, so that nobody can grant permissions they do not have. */
import type { PolicyRule } from '../../../../kinds/groups/access/rbac/policy-rule.ts';
import { type Block, type HeldRule, HeldRules, type Value } from './held-rules.ts';

/** Limit for the values that are compared: a check of ordinary roles compares some thousands. */
const MAX_COMPARISONS = 2_000_000;
/** Cost of comparing two rules, in comparisons of values; each of their values costs one more. */
const COMPARISONS_PER_RULE = 10;

/** Limit up to which missing permissions are returned one by one; more are returned as rules. */
const MAX_SINGLE_PERMISSIONS = 1_000;

/** Limit for the lines of a description, and for the values in a line; further ones are left out. */
const MAX_DESCRIBED_RULES = 1_000;
const MAX_DESCRIBED_VALUES = 1_000;

/** Missing permissions, as rules. */
export interface Uncovered {
  readonly rules: readonly PolicyRule[];
  /** False if the limit of comparisons was reached, so that some of the rules may be covered after all. */
  readonly isExact: boolean;
}

/**
 * Returns the permissions in `wanted` but not in `held`, split into single permissions (one verb on one resource or
 * path) unless they are too many. A rule of 500 groups, 500 resources and 500 verbs stands for 125 million permissions,
 * so rules are compared as a whole: the part covered by a held rule is cut out of the wanted one, and the rest is
 * compared with the next.
 */
export function uncovered(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): Uncovered {
  const owned = new HeldRules(held);
  const work = { left: MAX_COMPARISONS };
  const missing = wanted.flatMap(blocksOf).flatMap((block) => {
    const rest = remainderOf(block, owned, work);
    return rest.length > 0 ? [{ block, rest }] : [];
  });
  const count = missing.reduce((sum, { rest }) => sum + rest.reduce((more, each) => more + sizeOf(each), 0), 0);
  const isExact = work.left >= 0;
  if (count > MAX_SINGLE_PERMISSIONS) return { rules: missing.flatMap(({ rest }) => rest.map(ruleOf)), isExact };
  return { rules: missing.flatMap(({ block, rest }) => singles(block, rest).map(ruleOf)), isExact };
}

/** Converts a rule, which is not validated yet, so any of its lists may be missing. */
function blocksOf(rule: Partial<PolicyRule>): Block[] {
  const { verbs = [], apiGroups = [], resources = [], resourceNames, nonResourceURLs = [] } = rule;
  const names = resourceNames?.length ? resourceNames : [undefined];
  const blocks: Block[] = [
    { type: 'resources', lists: [apiGroups, resources, verbs, names].map(distinct) },
    { type: 'paths', lists: [nonResourceURLs, verbs].map(distinct) },
  ];
  return blocks.filter(({ lists }) => lists.every(({ length }) => length > 0));
}

function distinct(values: readonly Value[]): readonly Value[] {
  return values.length === 1 ? values : [...new Set(values)];
}

function sizeOf({ lists }: Block): number {
  return lists.reduce((size, { length }) => size * length, 1);
}

function ruleOf({ type, lists }: Block): PolicyRule {
  if (type === 'paths') {
    const [nonResourceURLs, verbs] = lists as string[][];
    return { verbs: verbs!, nonResourceURLs: nonResourceURLs! };
  }
  const [apiGroups, resources, verbs, names] = lists as string[][];
  const resourceNames = names!.filter((name) => name !== undefined);
  return {
    verbs: verbs!,
    apiGroups: apiGroups!,
    resources: resources!,
    resourceNames: resourceNames.length > 0 ? resourceNames : undefined,
  };
}

/** Returns the single permissions of blocks that are parts of `whole`, in its order. */
function singles(whole: Block, parts: readonly Block[]): Block[] {
  const found = parts.flatMap(({ type, lists }) =>
    lists
      .reduce<Value[][]>((heads, list) => heads.flatMap((head) => list.map((value) => [...head, value])), [[]])
      .map((values) => ({ type, lists: values.map((value) => [value]) })),
  );
  if (parts.length === 1) return found;
  const positions = whole.lists.map((list) => new Map(list.map((value, index) => [value, index])));
  const positionOf = ({ lists }: Block, i: number) => positions[i]!.get(lists[i]![0])!;
  return found.sort((a, b) => {
    for (let i = 0; i < positions.length; i++) {
      const difference = positionOf(a, i) - positionOf(b, i);
      if (difference !== 0) return difference;
    }
    return 0;
  });
}

/** Returns the parts of a block that no rule covers; when the work is used up, all remaining parts. */
function remainderOf(block: Block, held: HeldRules, work: { left: number }): readonly Block[] {
  let rest: readonly Block[] = [block];
  for (const rule of held.about(block)) {
    if (rest.length === 0 || work.left < 0) break;
    rest = rest.flatMap((each) => without(each, rule, work));
  }
  return rest;
}

/** Cuts the part covered by a rule out of a block. Returns disjoint blocks. */
function without(block: Block, rule: HeldRule, work: { left: number }): readonly Block[] {
  work.left -= COMPARISONS_PER_RULE;
  const tests = rule.tests(block.type);
  const { type, lists } = block;
  const inside: (readonly Value[])[] = [];
  const rest: Block[] = [];
  for (let i = 0; i < lists.length; i++) {
    const list = lists[i]!;
    const { covers, cost } = tests[i]!;
    work.left -= list.length * cost;
    if (work.left < 0) return [block];
    const covered = list.filter(covers);
    if (covered.length === 0) return [block];
    if (covered.length < list.length) {
      const others = list.filter((value) => !covers(value));
      rest.push({ type, lists: [...inside, others, ...lists.slice(i + 1)] });
    }
    inside.push(covered);
  }
  return rest;
}

/** Describes rules for an error message, with the verbs of one resource combined. */
export function describeRules(rules: readonly PolicyRule[]): string[] {
  const combined = new Map<string, PolicyRule>();
  for (const rule of rules) {
    const key = JSON.stringify([rule.apiGroups, rule.resources, rule.resourceNames, rule.nonResourceURLs]);
    const known = rule.nonResourceURLs ? undefined : combined.get(key);
    if (known) for (const verb of rule.verbs) known.verbs.push(verb);
    else combined.set(rule.nonResourceURLs ? `${key}${rule.verbs}` : key, { ...rule, verbs: [...rule.verbs] });
  }
  const lines = [...new Set([...combined.values()].map(describe))].sort();
  if (lines.length <= MAX_DESCRIBED_RULES) return lines;
  return [...lines.slice(0, MAX_DESCRIBED_RULES), `... and ${lines.length - MAX_DESCRIBED_RULES} more`];
}

function describe({ apiGroups, resources, nonResourceURLs, resourceNames, verbs }: PolicyRule): string {
  const parts = Object.entries({
    APIGroups: apiGroups,
    Resources: resources,
    NonResourceURLs: nonResourceURLs,
    ResourceNames: resourceNames,
    Verbs: verbs,
  });
  const shown = parts.flatMap(([name, values]) => (values?.length ? `${name}:${shortened(values)}` : []));
  return `{${shown.join(', ')}}`;
}

function shortened(values: readonly string[]): string {
  if (values.length <= MAX_DESCRIBED_VALUES) return quoted(values);
  return `${quoted(values.slice(0, MAX_DESCRIBED_VALUES)).slice(0, -1)} ... and ${values.length - MAX_DESCRIBED_VALUES} more]`;
}

/** Formats a list with Go's `%q`: `["a" "b"]`. */
export function quoted(values: readonly string[]): string {
  return `[${values.map((value) => JSON.stringify(value)).join(' ')}]`;
}
