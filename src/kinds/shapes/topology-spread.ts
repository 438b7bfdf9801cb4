import { s } from '../../schema/builders.ts';
import type { TypeOf } from '../../schema/schema.ts';
import { LabelSelector } from './label-selector.ts';

/** Keeps pods that the selector finds evenly spread over the values of a node label. */
export const TopologySpreadConstraint = s.object('TopologySpreadConstraint', {
  maxSkew: s.int32({ zero: true }),
  topologyKey: s.string({ zero: true }),
  whenUnsatisfiable: s.string({ zero: true }),
  labelSelector: LabelSelector,
  minDomains: s.int32(),
  nodeAffinityPolicy: s.string(),
  nodeTaintsPolicy: s.string(),
  matchLabelKeys: s.list(s.string()),
});
export type TopologySpreadConstraint = TypeOf<typeof TopologySpreadConstraint>;
