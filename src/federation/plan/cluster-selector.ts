/** Selects the clusters of a federated object: requirements on the labels of clusters. */

import { jsonIn } from './names.ts';

type Labels = Readonly<Record<string, string>>;

interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

export type ClusterSelector = (labels: Labels) => boolean;

/** Throws an error that explains an invalid annotation. Without one, every cluster is selected. */
export function parseClusterSelector(text: string | undefined): ClusterSelector {
  const parsed = jsonIn('the cluster selector is', text, []);
  if (!Array.isArray(parsed)) throw new Error('the cluster selector is not a list of requirements');
  const requirements = parsed.map(requirementOf);
  return (labels) => requirements.every((requirement) => isMet(requirement, labels));
}

function requirementOf(entry: unknown): Requirement {
  const { key, operator, values = [] } = (entry ?? {}) as { key?: unknown; operator?: unknown; values?: unknown };
  if (typeof key !== 'string' || key === '') throw new Error('a requirement of the cluster selector has no key');
  if (typeof operator !== 'string' || !(operator.toLowerCase() in OPERATORS)) {
    throw new Error(`the operator ${JSON.stringify(operator)} of the cluster selector is none of ${KNOWN}`);
  }
  if (!Array.isArray(values) || values.some((value) => typeof value !== 'string')) {
    throw new Error(`the values for ${key} in the cluster selector are not a list of strings`);
  }
  return { key, operator: operator.toLowerCase(), values };
}

type Test = (value: string | undefined, values: readonly string[]) => boolean;

const isIn: Test = (value, values) => value !== undefined && values.includes(value);
const isNotIn: Test = (value, values) => !isIn(value, values);
const exists: Test = (value) => value !== undefined;
const isMissing: Test = (value) => value === undefined;

/** Operators by name in lower case: those of label selectors in objects, and those in texts. */
const OPERATORS: Readonly<Record<string, Test>> = {
  in: isIn,
  notin: isNotIn,
  exists,
  doesnotexist: isMissing,
  '=': isIn,
  '==': isIn,
  '!=': isNotIn,
  '!': isMissing,
  gt: (value, [limit]) => value !== undefined && Number(value) > Number(limit),
  lt: (value, [limit]) => value !== undefined && Number(value) < Number(limit),
};
const KNOWN = 'In, NotIn, Exists, DoesNotExist, =, ==, !=, !, gt, lt';

function isMet({ key, operator, values }: Requirement, labels: Labels): boolean {
  return OPERATORS[operator]!(Object.hasOwn(labels, key) ? labels[key] : undefined, values);
}
