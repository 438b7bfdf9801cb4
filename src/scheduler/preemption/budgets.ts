/** Splits pods by whether evicting them violates a disruption budget. */
import { fromLabelSelector } from '../../schema/selector/selector.ts';
import type { PodInfo } from '../cluster/pod-info.ts';
import type { Budget } from '../objects.ts';

export interface Split {
  /** Evicting these exceeds a budget, given that those before them are evicted. */
  readonly violating: readonly PodInfo[];
  readonly allowed: readonly PodInfo[];
}

/** Keeps the order. */
export function splitByBudgets(pods: readonly PodInfo[], budgets: readonly Budget[]): Split {
  const left = budgets.map((budget) => ({
    budget,
    allowed: budget.status?.disruptionsAllowed ?? 0,
    selector: fromLabelSelector(budget.spec.selector),
  }));
  const violating: PodInfo[] = [];
  const allowed: PodInfo[] = [];
  for (const pod of pods) {
    let isViolating = false;
    for (const each of left) {
      const { metadata, status } = each.budget;
      if (metadata.namespace !== pod.namespace || each.selector.empty || !each.selector.matches(pod.labels)) continue;
      // A pod that is being disrupted has been counted already.
      if (status?.disruptedPods && Object.hasOwn(status.disruptedPods, pod.name)) continue;
      each.allowed--;
      if (each.allowed < 0) isViolating = true;
    }
    (isViolating ? violating : allowed).push(pod);
  }
  return { violating, allowed };
}
