/** Which nodes something may use, told by their labels and fields. */
import { s } from '../../schema/builders.ts';
import type { TypeOf } from '../../schema/schema.ts';

const NodeSelectorRequirement = s.object('NodeSelectorRequirement', {
  key: s.string({ zero: true }),
  operator: s.string({ zero: true }),
  values: s.list(s.string()),
});
export type NodeSelectorRequirement = TypeOf<typeof NodeSelectorRequirement>;

/** All its requirements must hold; without any, it selects nothing. */
export const NodeSelectorTerm = s.object(
  'NodeSelectorTerm',
  { matchExpressions: s.list(NodeSelectorRequirement), matchFields: s.list(NodeSelectorRequirement) },
  { atomic: true },
);
export type NodeSelectorTerm = TypeOf<typeof NodeSelectorTerm>;

/** One of its terms must hold. */
export const NodeSelector = s.object(
  'NodeSelector',
  { nodeSelectorTerms: s.list(NodeSelectorTerm, { required: 'must have at least one node selector term' }) },
  { atomic: true },
);
export type NodeSelector = TypeOf<typeof NodeSelector>;
