/** What the status of controllers of pods has in common. */
import { s } from '../../../schema/builders.ts';
import type { FieldError } from '../../../schema/field-error.ts';
import { invalid } from '../../../schema/field-error.ts';
import type { Rule } from '../../../schema/schema.ts';

/** The fields of a condition, but for the times that only some kinds keep. */
export const conditionFields = {
  type: s.string({ zero: true }),
  status: s.string({ zero: true }),
  lastTransitionTime: s.time(),
  reason: s.string({ omitZero: true }),
  message: s.string({ omitZero: true }),
};

/** A number of pods; none is not shown. */
export const counter = (description: string) => s.int32({ min: 0, omitZero: true, description });

/**
 * None of these counters can exceed `replicas`, and no pod is available that is not ready. What limits it has the name
 * in messages that clients know for the kind.
 */
export function countersWithin(counters: readonly string[], ready = 'readyReplicas'): Rule {
  return (status) => {
    const found: FieldError[] = [];
    for (const counter of counters) {
      const value = status[counter] ?? 0;
      if (value > (status.replicas ?? 0)) found.push(invalid(counter, value, 'cannot be greater than status.replicas'));
    }
    const available = status.availableReplicas ?? 0;
    if (available > (status.readyReplicas ?? 0)) {
      found.push(invalid('availableReplicas', available, `cannot be greater than ${ready}`));
    }
    return found;
  };
}

/** Collisions of names are counted and never forgotten, so that a name is not tried twice. */
export const collisionsGrow: Rule = (status, { old }) => {
  const before = old?.collisionCount;
  const count = status.collisionCount;
  if (before === undefined || (count !== undefined && count >= before)) return undefined;
  return invalid('collisionCount', count ?? 0, 'cannot be decremented');
};
