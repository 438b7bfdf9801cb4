/** Which nodes a pod, a volume or a provisioner can use, compiled to functions of a node's name and labels. */

import type { DeepReadonly } from '../../client/object-types.ts';
import type { NodeSelector, NodeSelectorTerm } from '../../kinds/shapes/node-selector.ts';
import type { Labels, Pod } from '../objects.ts';

/** What is asked about a node. */
interface Place {
  readonly name: string;
  readonly labels: Labels;
}

export type PlaceTest = (place: Place) => boolean;

type Term = DeepReadonly<NodeSelectorTerm>;
type Requirement = NonNullable<Term['matchExpressions']>[number];

/** One of the terms must hold. */
export function nodeSelector({ nodeSelectorTerms }: DeepReadonly<NodeSelector>): PlaceTest {
  const terms = nodeSelectorTerms.map(nodeSelectorTerm);
  return (place) => terms.some((holds) => holds(place));
}

/** All requirements must hold; without any, it holds nowhere. */
export function nodeSelectorTerm({ matchExpressions = [], matchFields = [] }: Term): PlaceTest {
  if (matchExpressions.length + matchFields.length === 0) return () => false;
  const onLabels = matchExpressions.map((each) => [each.key, test(each)] as const);
  const onName = matchFields.map(test);
  return ({ name, labels }) =>
    onName.every((holds) => holds(name)) && onLabels.every(([key, holds]) => holds(labels[key]));
}

function test({ operator, values = [] }: Requirement): (value: string | undefined) => boolean {
  switch (operator) {
    case 'In':
      return (value) => value !== undefined && values.includes(value);
    case 'NotIn':
      return (value) => value === undefined || !values.includes(value);
    case 'Exists':
      return (value) => value !== undefined;
    case 'DoesNotExist':
      return (value) => value === undefined;
    case 'Gt':
      return compare(values[0], (value, limit) => value > limit);
    case 'Lt':
      return compare(values[0], (value, limit) => value < limit);
    default:
      return () => false;
  }
}

const WHOLE = /^[+-]?\d+$/;

function compare(
  limit: string | undefined,
  holds: (value: bigint, limit: bigint) => boolean,
): (value: string | undefined) => boolean {
  if (limit === undefined || !WHOLE.test(limit)) return () => false;
  const bound = BigInt(limit);
  return (value) => value !== undefined && WHOLE.test(value) && holds(BigInt(value), bound);
}

/** The pod's selector and the affinity that it requires; undefined where it asks for nothing. */
export function requiredPlaces({ spec }: Pod): PlaceTest | undefined {
  const selector = Object.entries(spec.nodeSelector ?? {});
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  if (selector.length === 0 && !required) return undefined;
  const affinity = required ? nodeSelector(required) : undefined;
  return (place) =>
    selector.every(([key, value]) => place.labels[key] === value) && (affinity === undefined || affinity(place));
}

/** The only nodes that the required affinity can mean, where it names them; undefined where it does not. */
export function namedPlaces({ spec }: Pod): ReadonlySet<string> | undefined {
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  if (!terms?.length) return undefined;
  const all = new Set<string>();
  for (const { matchFields = [] } of terms) {
    const lists = matchFields.filter(({ key, operator }) => key === 'metadata.name' && operator === 'In');
    if (lists.length === 0) return undefined;
    for (const name of lists[0]!.values ?? []) if (lists.every(({ values }) => values?.includes(name))) all.add(name);
  }
  return all;
}
