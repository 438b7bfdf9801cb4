/**
 * Finds pods of lower priority whose removal makes room for a pod that fits nowhere: as few as possible, and preferably
 * without violating disruption budgets. It evicts nothing.
 */
import type { Random } from '../../base/random.ts';
import { fromLabelSelector } from '../../schema/selector/selector.ts';
import type { NodeInfo } from '../cluster/node-info.ts';
import type { PodInfo } from '../cluster/pod-info.ts';
import type { World } from '../cluster/world.ts';
import { type Diagnosis, failureMessage } from '../framework/diagnosis.ts';
import { Filters, type Rejected } from '../framework/filters.ts';
import { type Rejection, rejection } from '../framework/plugin.ts';
import type { Budget } from '../objects.ts';
import { byImportance, type Candidate, cheapest } from './importance.ts';

export type Preemption =
  | { readonly type: 'victims'; readonly candidate: Candidate }
  /** `isHopeless`: the pod's nomination is to be cleared. */
  | { readonly type: 'none'; readonly message: string; readonly isHopeless: boolean };

export interface PreemptOptions {
  readonly world: World;
  readonly budgets: readonly Budget[];
  readonly random: Random;
  readonly diagnosis: Diagnosis;
  /** Filters; undefined when one plugin rejects all nodes. */
  readonly filters: Filters | undefined;
}

const NOT_HELPFUL = rejection('Preemption is not helpful for scheduling');
const NO_VICTIMS = rejection('No preemption victims found for incoming pod');
const NAME = 'DefaultPreemption';
const NO_VICTIMS_ANYWHERE: Rejected = { plugin: NAME, rejection: NO_VICTIMS };

/** Message about devices: Kubernetes first tries to free devices that are claimed and not used; there are none here. */
const NO_DEVICES = 'no new claims to deallocate';

const MIN_CANDIDATES = 100;
const CANDIDATES_PERCENT = 10;

export function preempt(pod: PodInfo, options: PreemptOptions): Preemption {
  const { world, diagnosis } = options;
  const why = ineligibleReason(pod, world, diagnosis);
  if (why) return { type: 'none', message: `${NO_DEVICES}, preemption: ${why}`, isHopeless: false };
  const { found, rejected } = findCandidates(pod, options);
  const candidate = cheapest(found);
  if (candidate) return { type: 'victims', candidate };
  const summary: Diagnosis = {
    total: diagnosis.total,
    everywhere: undefined,
    byNode: rejected,
    elsewhere: NOT_HELPFUL,
    plugins: new Set(),
  };
  return { type: 'none', message: `${NO_DEVICES}, preemption: ${failureMessage(summary)}`, isHopeless: true };
}

/** Returns why the pod may not preempt others, now or ever. */
function ineligibleReason(pod: PodInfo, { cluster }: World, { byNode }: Diagnosis): string | undefined {
  if (pod.pod.spec.preemptionPolicy === 'Never') return 'not eligible due to preemptionPolicy=Never.';
  const name = pod.pod.status.nominatedNodeName || cluster.nominations.nodeOf(pod.uid);
  const node = name ? cluster.node(name) : undefined;
  if (!node || byNode.get(node)?.rejection.isResolvable === false) return undefined;
  for (const other of node.pods.values()) {
    if (other.priority < pod.priority && isPreempted(other)) {
      return 'not eligible due to a terminating pod on the nominated node.';
    }
  }
  return undefined;
}

function isPreempted({ isLeaving, pod }: PodInfo): boolean {
  if (!isLeaving) return false;
  const target = pod.status.conditions?.find(({ type }) => type === 'DisruptionTarget');
  return target?.status === 'True' && target.reason === 'PreemptionByScheduler';
}

interface Found {
  readonly found: readonly Candidate[];
  readonly rejected: ReadonlyMap<NodeInfo, Rejected>;
}

function findCandidates(pod: PodInfo, { world, budgets, random, diagnosis, filters }: PreemptOptions): Found {
  const nodes = [...diagnosis.byNode].filter(([, { rejection }]) => rejection.isResolvable).map(([node]) => node);
  const rejected = new Map<NodeInfo, Rejected>();
  const found: Candidate[] = [];
  if (nodes.length === 0 || !filters) return { found, rejected };
  if (!world.cluster.hasLowerPriority(pod.priority)) {
    for (const node of nodes) rejected.set(node, NO_VICTIMS_ANYWHERE);
    return { found, rejected };
  }
  const wanted = Math.max(MIN_CANDIDATES, Math.trunc((nodes.length * CANDIDATES_PERCENT) / 100));
  const start = random.int(nodes.length);
  let isAnyHarmless = false;
  for (let i = 0; i < nodes.length && !(isAnyHarmless && found.length >= wanted); i++) {
    const node = nodes[(start + i) % nodes.length]!;
    const result = victimsOn(pod, node, { world, budgets, filters });
    if ('victims' in result) {
      found.push(result);
      isAnyHarmless ||= result.violations === 0;
    } else {
      rejected.set(node, { plugin: NAME, rejection: result });
    }
  }
  return { found, rejected };
}

/** Removes all pods of lower priority, and puts back those that still fit, the most important first. */
function victimsOn(
  pod: PodInfo,
  node: NodeInfo,
  { world: { cluster }, budgets, filters }: { world: World; budgets: readonly Budget[]; filters: Filters },
): Candidate | Rejection {
  const lesser = [...node.pods.values()].filter(({ priority }) => priority < pod.priority);
  if (lesser.length === 0) return NO_VICTIMS;
  const assumed = new Set(lesser.filter(({ uid }) => cluster.isAssumed(uid)));
  const away = new Set(lesser);
  const leave = (other: PodInfo) => {
    cluster.remove(other.uid);
    away.add(other);
  };
  const comeBack = (other: PodInfo) => {
    if (assumed.has(other)) cluster.assume(other, node.name);
    else cluster.place(other, node.name);
    away.delete(other);
  };
  const rejected = () => {
    const now = filters.refreshed();
    return now instanceof Filters ? now.check(node) : now;
  };
  for (const other of lesser) leave(other);
  try {
    const still = rejected();
    if (still) return still.rejection;
    const { violating, allowed } = splitByBudgets(lesser.sort(byImportance), budgets);
    const victims: PodInfo[] = [];
    const spare = (others: readonly PodInfo[]) => {
      const before = victims.length;
      for (const other of others) {
        comeBack(other);
        if (!rejected()) continue;
        leave(other);
        victims.push(other);
      }
      return victims.length - before;
    };
    const violations = spare(violating);
    spare(allowed);
    if (victims.length === 0) return NOT_HELPFUL;
    return { nodeName: node.name, victims: victims.sort(byImportance), violations };
  } finally {
    for (const other of [...away]) comeBack(other);
  }
}

interface Split {
  /** Evicting these exceeds a budget, given that those before them are evicted. */
  readonly violating: readonly PodInfo[];
  readonly allowed: readonly PodInfo[];
}

/** Keeps the order. */
function splitByBudgets(pods: readonly PodInfo[], budgets: readonly Budget[]): Split {
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
