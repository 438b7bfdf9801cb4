/** Aggregation of ClusterRoles. */
import { deepEqual } from '../../../base/tree.ts';
import type { LabelSelector } from '../../shapes/meta/label-selector.ts';
import { selects } from '../../shapes/workload/workload-selector.ts';

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
export function gatheredRules<Rule>(role: Aggregable<Rule>, all: readonly Aggregable<Rule>[]): Rule[] {
  const { name: own } = role.metadata;
  const others = all
    .filter(({ metadata }) => metadata.name !== own)
    .sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
  const found: Rule[] = [];
  for (const selector of role.aggregationRule?.clusterRoleSelectors ?? []) {
    for (const { metadata, rules = [] } of others) {
      if (!selects(selector as LabelSelector, metadata.labels)) continue;
      for (const rule of rules) if (!found.some((known) => deepEqual(known, rule))) found.push(rule);
    }
  }
  return found;
}
