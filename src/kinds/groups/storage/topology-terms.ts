/** Parts of the cluster in which volumes may be created, selected by node labels. */
import { s } from '../../../schema/builders.ts';
import { duplicate, type FieldError, invalid } from '../../../schema/field-error.ts';
import { qualifiedName } from '../../../schema/names.ts';
import { unique } from '../../../schema/rules.ts';
import type { TypeOf } from '../../../schema/schema.ts';

const TopologySelectorLabelRequirement = s.object(
  'TopologySelectorLabelRequirement',
  {
    key: s.string({ zero: true, description: 'Key of the node label. Required.' }),
    values: s.list(s.string(), {
      required: true,
      description: 'Values of the label; one of them must match. At least one is required.',
      rules: [unique()],
    }),
  },
  {
    rules: [({ key }: { key: string }) => qualifiedName(key).map((complaint) => invalid('key', key, complaint))],
    description: 'Requires a node label to have one of the given values.',
  },
);

export const TopologySelectorTerm = s.object(
  'TopologySelectorTerm',
  {
    matchLabelExpressions: s.list(TopologySelectorLabelRequirement, {
      description: 'Requirements on node labels, all of which must hold.',
      rules: [unique('key')],
    }),
  },
  { atomic: true, description: 'A part of the cluster, by node labels.' },
);
export type TopologySelectorTerm = TypeOf<typeof TopologySelectorTerm>;

/** Checks that no term of a list is empty or equivalent to another. */
export function distinctTerms(terms: readonly TopologySelectorTerm[]): FieldError[] {
  const seen = new Set<string>(['']);
  return terms.flatMap((term, index) => {
    const canonical = canonicalText(term);
    if (seen.has(canonical)) return [duplicate(`[${index}].matchLabelExpressions`, '')];
    seen.add(canonical);
    return [];
  });
}

/** A key that is equal for terms that differ only in order. */
function canonicalText({ matchLabelExpressions = [] }: TopologySelectorTerm): string {
  return matchLabelExpressions
    .map(({ key, values = [] }) => JSON.stringify([key, ...new Set([...values].sort())]))
    .sort()
    .join();
}
