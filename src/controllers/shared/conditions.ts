/** Status conditions of objects, with transition times. */
import { timestamp } from '../../base/time/timestamp.ts';

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

interface WithConditions<T> {
  readonly status?: { readonly conditions?: readonly T[] };
}

export const conditionOf = <T extends Pick<Condition, 'type'>>({ status }: WithConditions<T>, type: string) =>
  status?.conditions?.find((condition) => condition.type === type);

/** Reports whether the condition is true. */
export const holds = (object: WithConditions<Pick<Condition, 'type' | 'status'>>, type: string): boolean =>
  conditionOf(object, type)?.status === 'True';

/** Sets or replaces the conditions. The transition time changes only with the status. */
export function withConditions(
  present: readonly Condition[] | undefined,
  wanted: readonly Omit<Condition, 'lastTransitionTime'>[],
  now: Date,
): Condition[] {
  const out = [...(present ?? [])];
  for (const condition of wanted) {
    const index = out.findIndex(({ type }) => type === condition.type);
    const old = out[index];
    const since = old?.status === condition.status ? old.lastTransitionTime : timestamp(now);
    const next = { ...condition, ...(since ? { lastTransitionTime: since } : {}) };
    if (index < 0) out.push(next);
    else out[index] = next;
  }
  return out;
}

export function withoutCondition<T extends Pick<Condition, 'type'>>(
  present: readonly T[] | undefined,
  type: string,
): T[] {
  return present?.filter((condition) => condition.type !== type) ?? [];
}
