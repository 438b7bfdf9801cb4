/** Parts of the cluster in which volumes may be created, selected by node labels. */
import { s } from '../../../schema/builders.ts';
import { duplicate, type FieldError, invalid } from '../../../schema/field-error.ts';
import { qualifiedName } from '../../../schema/names.ts';
import { unique } from '../../../schema/rules.ts';
import type { TypeOf } from '../../../schema/schema.ts';

const TopologySelectorLabelRequirement = s.object(
  'TopologySelectorLabelRequirement',
  'Requires a node label to have one of the given values.',
  {
    key: s.string('Key of the node label. Required.', { zero: true }),
    values: s.list(s.string(), 'Values of the label; one of them must match. At least one is required.', {
      required: true,
      rules: [unique()],
    }),
  },
  { rules: [({ key }: { key: string }) => qualifiedName(key).map((complaint) => invalid('key', key, complaint))] },
);

export const TopologySelectorTerm = s.object(
  'TopologySelectorTerm',
  'A part of the cluster, by node labels.',
  {
    matchLabelExpressions: s.list(
      TopologySelectorLabelRequirement,
      'Requirements on node labels, all of which must hold.',
      { rules: [unique('key')] },
    ),
  },
  { atomic: true },
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
