/** The nodes that a pod asks for: its node selector and the node affinity that it requires. */
import { NAME, type NodeTest, nodeSelector, type Selector } from './node-selector.ts';

/** What a pod's spec says of nodes. */
interface Wishes {
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly affinity?: {
    readonly nodeAffinity?: { readonly requiredDuringSchedulingIgnoredDuringExecution?: Selector };
  };
}

/** Undefined where the pod asks for nothing. */
export function requiredNodes(wishes: Wishes): NodeTest | undefined {
  const labels = Object.entries(wishes.nodeSelector ?? {});
  const required = requiredAffinity(wishes);
  if (labels.length === 0 && !required) return undefined;
  const affinity = required ? nodeSelector(required) : undefined;
  return (node) =>
    labels.every(([key, value]) => node.labels?.[key] === value) && (affinity === undefined || affinity(node));
}

/** The node that the pod is meant for: the first that a term names by its field, and alone. */
export function namedNode(wishes: Wishes): string | undefined {
  for (const term of requiredAffinity(wishes)?.nodeSelectorTerms ?? []) {
    const names = namesIn(term)[0];
    if (names) return names.length === 1 ? names[0] : undefined;
  }
  return undefined;
}

/** The only nodes that the pod can go to, where every term names some; undefined where one does not. */
export function namedNodes(wishes: Wishes): ReadonlySet<string> | undefined {
  const terms = requiredAffinity(wishes)?.nodeSelectorTerms;
  if (!terms?.length) return undefined;
  const all = new Set<string>();
  for (const term of terms) {
    const [first, ...others] = namesIn(term);
    if (!first) return undefined;
    for (const name of first) if (others.every((names) => names.includes(name))) all.add(name);
  }
  return all;
}

const requiredAffinity = ({ affinity }: Wishes) =>
  affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;

const NOBODY: readonly string[] = [];
const NONE: readonly (readonly string[])[] = [];

/** Lists of names, all of which must hold the node's. */
function namesIn({ matchFields }: Selector['nodeSelectorTerms'][number]): readonly (readonly string[])[] {
  if (!matchFields) return NONE;
  return matchFields
    .filter(({ key, operator }) => key === NAME && operator === 'In')
    .map(({ values }) => values ?? NOBODY);
}
