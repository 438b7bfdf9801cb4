/** Selectors of nodes, as pods, volumes and provisioners have them, compiled to tests of a node's name and labels. */

export type NodeTest = (node: Place) => boolean;

/** What is asked about a node; its `metadata` will do. */
interface Place {
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface Selector {
  readonly nodeSelectorTerms: readonly Term[];
}

interface Term {
  readonly matchExpressions?: readonly Requirement[];
  readonly matchFields?: readonly Requirement[];
}

interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** The one field by which nodes can be selected. */
export const NAME = 'metadata.name';

/** One of the terms must hold. */
export function nodeSelector({ nodeSelectorTerms }: Selector): NodeTest {
  const terms = nodeSelectorTerms.map(nodeSelectorTerm);
  return (node) => terms.some((holds) => holds(node));
}

/** All requirements must hold; a term without any holds nowhere. */
export function nodeSelectorTerm({ matchExpressions = [], matchFields = [] }: Term): NodeTest {
  if (matchExpressions.length + matchFields.length === 0) return () => false;
  const onLabels = matchExpressions.map((each) => [each.key, valueTest(each)] as const);
  const onFields = matchFields.map((each) => [each.key, valueTest(each)] as const);
  return ({ name, labels }) =>
    onFields.every(([key, holds]) => holds(key === NAME ? name : undefined)) &&
    onLabels.every(([key, holds]) => holds(labels?.[key]));
}

type ValueTest = (value: string | undefined) => boolean;

function valueTest({ operator, values = [] }: Requirement): ValueTest {
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
      return comparison(values[0], (value, limit) => value > limit);
    case 'Lt':
      return comparison(values[0], (value, limit) => value < limit);
    default:
      return () => false;
  }
}

const WHOLE = /^[+-]?\d+$/;

function comparison(limit: string | undefined, holds: (value: bigint, limit: bigint) => boolean): ValueTest {
  if (limit === undefined || !WHOLE.test(limit)) return () => false;
  const bound = BigInt(limit);
  return (value) => value !== undefined && WHOLE.test(value) && holds(BigInt(value), bound);
}
