/** Node selectors of pods, volumes and provisioners, compiled to tests of a node's name and labels. */

export type NodeTest = (node: NodeIdentity) => boolean;

/** The part of a node that selectors can test, such as its `metadata`. */
interface NodeIdentity {
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

/** The only field by which nodes can be selected. */
export const NAME = 'metadata.name';

/** Matches if one of the terms matches. */
export function nodeSelector({ nodeSelectorTerms }: Selector): NodeTest {
  const terms = nodeSelectorTerms.map(nodeSelectorTerm);
  return (node) => terms.some((holds) => holds(node));
}

/** Matches if all requirements are met; a term without requirements matches no node. */
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
      return oneOf(values);
    case 'NotIn': {
      const isIn = oneOf(values);
      return (value) => !isIn(value);
    }
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

/** Number of values above which they are searched by hash: a term may name thousands of nodes. */
const MAX_COMPARED_VALUES = 8;

function oneOf(values: readonly string[]): ValueTest {
  if (values.length <= MAX_COMPARED_VALUES) return (value) => value !== undefined && values.includes(value);
  const set = new Set<string | undefined>(values);
  return (value) => set.has(value);
}

const WHOLE = /^[+-]?\d+$/;

function comparison(limit: string | undefined, holds: (value: bigint, limit: bigint) => boolean): ValueTest {
  if (limit === undefined || !WHOLE.test(limit)) return () => false;
  const bound = BigInt(limit);
  return (value) => value !== undefined && WHOLE.test(value) && holds(BigInt(value), bound);
}
