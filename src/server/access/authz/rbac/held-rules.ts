/** The rules that a user has, indexed for comparison with rules that the user wants to grant. */
import { getOrInsert } from '../../../../base/collections/get-or-insert.ts';
import type { PolicyRule } from '../../../../kinds/groups/access/rbac/policy-rule.ts';
import { coversPath } from './rule.ts';

export type Value = string | undefined;

/** A product of lists: every combination of one value from each list. */
export interface Block {
  readonly type: 'resources' | 'paths';
  /** The lists: groups, resources, verbs and names (undefined: all objects); or paths and verbs. */
  readonly lists: readonly (readonly Value[])[];
}

interface ValueTest {
  covers(value: Value): boolean;
  /** Number of comparisons per value. */
  readonly cost: number;
}

const NEVER: ValueTest = { covers: () => false, cost: 1 };

/** A rule that the user has, with its lists indexed. */
export class HeldRule {
  readonly #resources: readonly ValueTest[];
  readonly #paths: readonly ValueTest[];

  constructor({ verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: PolicyRule) {
    const verb = anyOf(verbs);
    this.#resources = [anyOf(apiGroups), resourceTest(resources), verb, nameTest(resourceNames)];
    this.#paths = [resourceNames.length > 0 ? NEVER : pathTest(nonResourceURLs), verb];
  }

  /** Returns a test for each list of a block. */
  tests(type: Block['type']): readonly ValueTest[] {
    return type === 'paths' ? this.#paths : this.#resources;
  }
}

/** Finds the rules that may cover a part of a block, by resource, because most rules are about different ones. */
export class HeldRules {
  readonly #byResource = new Map<Value, HeldRule[]>();
  /** Rules with a wildcard among their resources. */
  readonly #anyResource: HeldRule[] = [];
  readonly #paths: HeldRule[] = [];

  constructor(rules: readonly PolicyRule[]) {
    for (const rule of rules) {
      const held = new HeldRule(rule);
      if (rule.nonResourceURLs?.length) this.#paths.push(held);
      if (rule.resources?.some((resource) => resource.startsWith('*'))) this.#anyResource.push(held);
      else for (const resource of new Set(rule.resources)) this.#add(resource, held);
    }
  }

  *about({ type, lists }: Block): Generator<HeldRule> {
    if (type === 'paths') return yield* this.#paths;
    yield* this.#anyResource;
    const [, resources = []] = lists;
    if (resources.length === 1) return yield* this.#byResource.get(resources[0]) ?? [];
    const seen = new Set<HeldRule>();
    for (const resource of resources) {
      for (const rule of this.#byResource.get(resource) ?? []) {
        if (!seen.has(rule)) yield rule;
        seen.add(rule);
      }
    }
  }

  #add(resource: string, rule: HeldRule): void {
    getOrInsert(this.#byResource, resource, () => []).push(rule);
  }
}

function anyOf(owned: readonly string[]): ValueTest {
  const values = new Set<Value>(owned);
  return values.has('*') ? { covers: () => true, cost: 1 } : { covers: (value) => values.has(value), cost: 1 };
}

function resourceTest(owned: readonly string[]): ValueTest {
  const values = new Set<Value>(owned);
  if (values.has('*')) return { covers: () => true, cost: 1 };
  return {
    covers: (value) => {
      if (values.has(value)) return true;
      const slash = value?.indexOf('/') ?? -1;
      return slash >= 0 && values.has(`*${value!.slice(slash)}`);
    },
    cost: 1,
  };
}

/** Tests names. A rule with names does not cover one without. */
function nameTest(owned: readonly string[]): ValueTest {
  if (owned.length === 0) return { covers: () => true, cost: 1 };
  const names = new Set<Value>(owned);
  return { covers: (value) => value !== undefined && names.has(value), cost: 1 };
}

function pathTest(owned: readonly string[]): ValueTest {
  const paths = new Set<Value>(owned);
  const patterns = owned.filter((path) => path.endsWith('*'));
  return {
    covers: (value) => paths.has(value) || patterns.some((pattern) => coversPath(pattern, value!)),
    cost: 1 + patterns.length,
  };
}
