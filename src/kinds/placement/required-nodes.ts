/** The nodes that a pod requires by its node selector and its required node affinity. */
import { NAME, type NodeTest, nodeSelector, type Selector } from './node-selector.ts';

/** The part of a pod's spec that restricts its nodes. */
interface NodeRequirements {
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly affinity?: {
    readonly nodeAffinity?: { readonly requiredDuringSchedulingIgnoredDuringExecution?: Selector };
  };
}

/** Returns the required nodes; undefined when the pod does not restrict them. */
export function requiredNodes(spec: NodeRequirements): NodeTest | undefined {
  const labels = Object.entries(spec.nodeSelector ?? {});
  const required = requiredAffinity(spec);
  if (labels.length === 0 && !required) return undefined;
  const affinity = required ? nodeSelector(required) : undefined;
  return (node) =>
    labels.every(([key, value]) => node.labels?.[key] === value) && (affinity === undefined || affinity(node));
}

/** The node that the pod is bound for: the first one that a term names by its field, alone. */
export function namedNode(spec: NodeRequirements): string | undefined {
  for (const term of requiredAffinity(spec)?.nodeSelectorTerms ?? []) {
    const names = namesIn(term)[0];
    if (names) return names.length === 1 ? names[0] : undefined;
  }
  return undefined;
}

/** The only nodes that the pod can run on, if every term names some; undefined otherwise. */
export function namedNodes(spec: NodeRequirements): ReadonlySet<string> | undefined {
  const terms = requiredAffinity(spec)?.nodeSelectorTerms;
  if (!terms?.length) return undefined;
  const all = new Set<string>();
  for (const term of terms) {
    const [first, ...rest] = namesIn(term);
    if (!first) return undefined;
    const others = rest.map((names) => new Set(names));
    for (const name of first) if (others.every((names) => names.has(name))) all.add(name);
  }
  return all;
}

const requiredAffinity = ({ affinity }: NodeRequirements) =>
  affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;

const NO_NAMES: readonly string[] = [];
const NO_LISTS: readonly (readonly string[])[] = [];

/** Lists of node names, each of which must include the node's name. */
function namesIn({ matchFields }: Selector['nodeSelectorTerms'][number]): readonly (readonly string[])[] {
  if (!matchFields) return NO_LISTS;
  return matchFields
    .filter(({ key, operator }) => key === NAME && operator === 'In')
    .map(({ values }) => values ?? NO_NAMES);
}
