import { labelValue } from '../../schema/names.ts';
import type { LabelSelector } from '../shapes/meta/label-selector.ts';
import type { NodeSelectorTerm } from '../shapes/pod/scheduling/node-selector.ts';

/** Deprecated node labels, with the advice of Kubernetes. */
const DEPRECATED: ReadonlyMap<string, string> = new Map([
  ['beta.kubernetes.io/arch', 'deprecated since v1.14; use "kubernetes.io/arch" instead'],
  ['beta.kubernetes.io/os', 'deprecated since v1.14; use "kubernetes.io/os" instead'],
  ['failure-domain.beta.kubernetes.io/region', 'deprecated since v1.17; use "topology.kubernetes.io/region" instead'],
  ['failure-domain.beta.kubernetes.io/zone', 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'],
  ['beta.kubernetes.io/instance-type', 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'],
  ['app.kubernetes.io/created-by', 'deprecated since v1.9'],
  ['scheduler.alpha.kubernetes.io/preferAvoidPods', 'deprecated since v1.22; use Taints and Tolerations instead'],
  ['node-role.kubernetes.io/master', 'use "node-role.kubernetes.io/control-plane" instead'],
]);

/** The warning about a node label, if it is deprecated. */
export function nodeLabelWarning(label: string): string | undefined {
  return DEPRECATED.get(label);
}

/** `path` is that of the term. Values are checked only if no rule has validated them (`values`). */
export function termWarnings(path: string, { matchExpressions }: NodeSelectorTerm, values = false): string[] {
  const found: string[] = [];
  matchExpressions?.forEach((expression, index) => {
    const at = `${path}.matchExpressions[${index}]`;
    const words = nodeLabelWarning(expression.key);
    if (words) found.push(`${at}.key: ${expression.key} is ${words}`);
    if (!values) return;
    expression.values?.forEach((value, position) => {
      for (const complaint of labelValue(value)) {
        found.push(`${at}.values[${position}]: ${value} is invalid, ${complaint}`);
      }
    });
  });
  return found;
}

/** Warnings about a label selector for nodes. */
export function nodeSelectorWarnings(path: string, selector: LabelSelector | undefined): string[] {
  const found: string[] = [];
  selector?.matchExpressions?.forEach(({ key }, index) => {
    const words = nodeLabelWarning(key);
    if (words) found.push(`${path}.matchExpressions[${index}].key: ${key} is ${words}`);
  });
  for (const label of Object.keys(selector?.matchLabels ?? {})) {
    const words = nodeLabelWarning(label);
    if (words) found.push(`${path}.matchLabels.${label}: ${words}`);
  }
  return found;
}
