/** The taints of a node that follow from its conditions. */
import type { SeenNode } from '../../../api/seen-objects.ts';
import { readyCondition } from './health.ts';

type Taint = NonNullable<SeenNode['spec']['taints']>[number];

const NOT_READY = 'node.kubernetes.io/not-ready';
const UNREACHABLE = 'node.kubernetes.io/unreachable';
const UNSCHEDULABLE = 'node.kubernetes.io/unschedulable';

/** NoSchedule taints by the type and status of a condition. */
const BY_CONDITION: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Ready: { False: NOT_READY, Unknown: UNREACHABLE },
  MemoryPressure: { True: 'node.kubernetes.io/memory-pressure' },
  DiskPressure: { True: 'node.kubernetes.io/disk-pressure' },
  PIDPressure: { True: 'node.kubernetes.io/pid-pressure' },
  NetworkUnavailable: { True: 'node.kubernetes.io/network-unavailable' },
};

const OWN_NO_SCHEDULE = new Set([UNSCHEDULABLE, ...Object.values(BY_CONDITION).flatMap(Object.values)]);
const OWN_NO_EXECUTE = new Set([NOT_READY, UNREACHABLE]);

/** Returns the NoExecute taint of an unhealthy node; undefined for a healthy one. */
export function evictingTaint(node: SeenNode): string | undefined {
  const ready = readyCondition(node);
  return ready && keyOf(ready);
}

/** Reports whether the node has either of the NoExecute taints. */
export function isEvicting({ spec }: SeenNode): boolean {
  return spec.taints?.some(isOwnNoExecute) ?? false;
}

/** Returns the desired taints; `evicting` is the NoExecute taint, if there is to be one. */
export function taintsOf(node: SeenNode, evicting: string | undefined, now: string): readonly Taint[] {
  const present = node.spec.taints ?? [];
  const wanted = noScheduleKeys(node);
  const kept = present.filter(
    (taint) =>
      !(isOwnNoExecute(taint) && taint.key !== evicting) &&
      !(taint.effect === 'NoSchedule' && OWN_NO_SCHEDULE.has(taint.key) && !wanted.has(taint.key)),
  );
  const has = (key: string, effect: string) => kept.some((taint) => taint.key === key && taint.effect === effect);
  const added = [...wanted].filter((key) => !has(key, 'NoSchedule'));
  return [
    ...kept,
    ...added.map((key) => ({ key, effect: 'NoSchedule', timeAdded: now })),
    ...(evicting && !has(evicting, 'NoExecute') ? [{ key: evicting, effect: 'NoExecute', timeAdded: now }] : []),
  ];
}

const isOwnNoExecute = ({ key, effect }: Taint) => effect === 'NoExecute' && OWN_NO_EXECUTE.has(key);

function noScheduleKeys({ spec, status }: SeenNode): ReadonlySet<string> {
  const keys = (status.conditions ?? []).map(keyOf);
  return new Set([...keys, spec.unschedulable ? UNSCHEDULABLE : undefined].filter((key) => key !== undefined));
}

/** The types of conditions are the node's to choose, and may be named like properties that every object has. */
function keyOf({ type, status }: { readonly type: string; readonly status: string }): string | undefined {
  const byStatus = Object.hasOwn(BY_CONDITION, type) ? BY_CONDITION[type]! : {};
  return Object.hasOwn(byStatus, status) ? byStatus[status] : undefined;
}
