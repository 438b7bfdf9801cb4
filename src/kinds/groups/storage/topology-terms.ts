/** Where volumes may be made, told by labels of nodes. */
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
type TopologySelectorTerm = TypeOf<typeof TopologySelectorTerm>;

/** On a list of terms: no two say the same, and each says something. */
export function differentTerms(terms: readonly TopologySelectorTerm[]): FieldError[] {
  const seen = new Set<string>(['']);
  return terms.flatMap((term, index) => {
    const meaning = meaningOf(term);
    if (seen.has(meaning)) return [duplicate(`[${index}].matchLabelExpressions`, '')];
    seen.add(meaning);
    return [];
  });
}

/** The same text for terms that differ only in order. */
function meaningOf({ matchLabelExpressions = [] }: TopologySelectorTerm): string {
  return matchLabelExpressions
    .map(({ key, values = [] }) => JSON.stringify([key, ...new Set([...values].sort())]))
    .sort()
    .join();
}
