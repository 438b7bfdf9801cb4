/** Aggregation of ClusterRoles. */
import { fromLabelSelector } from '../../../../schema/selector/selector.ts';
import type { LabelSelector } from '../../../shapes/meta/label-selector.ts';

/** The parts of a ClusterRole that matter for aggregation. */
interface Aggregable<Rule> {
  readonly metadata: {
    readonly name?: string | undefined;
    readonly labels?: Readonly<Record<string, string>> | undefined;
  };
  readonly rules?: readonly Rule[];
  readonly aggregationRule?: { readonly clusterRoleSelectors?: readonly unknown[] | undefined } | undefined;
}

export function isAggregated({ aggregationRule }: Aggregable<unknown>): boolean {
  return Boolean(aggregationRule?.clusterRoleSelectors?.length);
}

/** The rules of all other roles that a selector of `role` matches, without duplicates, by selector and then by name. */
export function gatheredRules<Rule extends object>(role: Aggregable<Rule>, all: readonly Aggregable<Rule>[]): Rule[] {
  const { name: own } = role.metadata;
  const others = all
    .filter(({ metadata }) => metadata.name !== own)
    .sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
  const found = new Map<string, Rule>();
  const gathered = new Set<Aggregable<Rule>>();
  for (const selector of role.aggregationRule?.clusterRoleSelectors ?? []) {
    const { matches } = fromLabelSelector(selector as LabelSelector);
    for (const other of others) {
      if (gathered.has(other) || !matches(other.metadata.labels)) continue;
      gathered.add(other);
      for (const rule of other.rules ?? []) {
        const id = identityOf(rule);
        if (!found.has(id)) found.set(id, rule);
      }
    }
  }
  return [...found.values()];
}

/** Returns the same text for equal rules, in any order of their fields. */
function identityOf(rule: object): string {
  return JSON.stringify(Object.entries(rule).sort(([a], [b]) => (a < b ? -1 : 1)));
}
