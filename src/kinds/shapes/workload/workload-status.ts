/** Fields and rules that the statuses of pod controllers have in common. */
import { s } from '../../../schema/builders.ts';
import { type FieldError, invalid } from '../../../schema/field-error.ts';
import type { Rule } from '../../../schema/schema.ts';

/** Fields that the conditions of older kinds have in common. */
export const conditionFields = {
  type: s.string('Type of the condition in CamelCase, such as Available. Unique within the list.', { zero: true }),
  status: s.string('Whether the condition holds: True, False or Unknown.', { zero: true }),
  lastTransitionTime: s.time('Time at which the status last changed.'),
  reason: s.string('Machine-readable cause of the last transition, as one CamelCase word.', { omitZero: true }),
  message: s.string('Explanation of the last transition for people.', { omitZero: true }),
};

export const minReadySeconds = s.int32(
  'Seconds a new pod must stay ready, without any of its containers crashing, before it counts as available. Defaults to 0: available as soon as it is ready.',
  { min: 0, omitZero: true },
);

export const observedGeneration = s.int64(
  'The metadata.generation that this status was computed from. The status is out of date while this is lower than metadata.generation.',
  { min: 0, omitZero: true },
);

/** The subresources of controllers whose pods are counted. */
export const scalable = {
  status: true,
  scale: { replicas: 'spec.replicas', observed: 'status.replicas', selector: 'spec.selector' },
} as const;

/** A number of pods; 0 is omitted. */
export const counter = (description: string) => s.int32(description, { min: 0, omitZero: true });

interface Counters {
  readonly replicas?: number;
  readonly currentReplicas?: number;
  readonly updatedReplicas?: number;
  readonly fullyLabeledReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
}

/**
 * Checks that none of these counters exceeds `replicas`, and that `availableReplicas` does not exceed `readyReplicas`,
 * which messages of some kinds call by another name (`ready`).
 */
export function countersWithin(counters: readonly (keyof Counters)[], ready = 'readyReplicas'): Rule<Counters> {
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

/** The count of name collisions never decreases, so that no name is tried twice. */
export const collisionsGrow: Rule<{ readonly collisionCount?: number }> = (status, { old }) => {
  const before = old?.collisionCount;
  const count = status.collisionCount;
  if (before === undefined || (count !== undefined && count >= before)) return undefined;
  return invalid('collisionCount', count ?? 0, 'cannot be decremented');
};
