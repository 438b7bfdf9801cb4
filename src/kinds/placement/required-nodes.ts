/** The nodes that a pod asks for: its node selector and the node affinity that it requires, compiled to a test. */

export type NodeTest = (node: NodeLike) => boolean;

/** What is asked about a node. */
interface NodeLike {
  readonly metadata: { readonly name?: string; readonly labels?: Readonly<Record<string, string>> };
}

/** What a pod's spec says of nodes. */
interface Wishes {
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly affinity?: {
    readonly nodeAffinity?: {
      readonly requiredDuringSchedulingIgnoredDuringExecution?: { readonly nodeSelectorTerms: readonly Term[] };
    };
  };
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

export function requiredNodes({ nodeSelector = {}, affinity }: Wishes): NodeTest {
  const labels = Object.entries(nodeSelector);
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms.map(termTest);
  return (node) =>
    labels.every(([key, value]) => node.metadata.labels?.[key] === value) &&
    (terms === undefined || terms.some((holds) => holds(node)));
}

/** The node that the pod can only go to: the first that a term names by its field. */
export function namedNode({ affinity }: Wishes): string | undefined {
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  for (const { matchFields = [] } of terms) {
    const names = matchFields.find(({ key, operator }) => key === NAME && operator === 'In')?.values;
    if (names) return names.length === 1 ? names[0] : undefined;
  }
  return undefined;
}

/** The one field by which nodes can be selected. */
export const NAME = 'metadata.name';

/** All requirements must hold; a term without any holds nowhere. */
function termTest({ matchExpressions = [], matchFields = [] }: Term): NodeTest {
  if (matchExpressions.length + matchFields.length === 0) return () => false;
  const onLabels = matchExpressions.map((each) => [each.key, valueTest(each)] as const);
  const onFields = matchFields.map((each) => [each.key, valueTest(each)] as const);
  return ({ metadata }) =>
    onFields.every(([key, holds]) => holds(key === NAME ? metadata.name : undefined)) &&
    onLabels.every(([key, holds]) => holds(metadata.labels?.[key]));
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
