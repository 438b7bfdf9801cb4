import { s } from '../../../schema/builders.ts';
import { type FieldError, forbidden } from '../../../schema/field-error.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { age, name } from '../../columns/column.ts';
import { defineKind, type KubeObject } from '../../kind.ts';

/** Higher values are reserved for the system classes. */
const MAX_USER_PRIORITY = 1_000_000_000;
const SYSTEM_PREFIX = 'system-';
/** The system classes and their priorities. */
export const systemPriorities: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2 * MAX_USER_PRIORITY,
  'system-node-critical': 2 * MAX_USER_PRIORITY + 1000,
};

const fields = {
  value: s.int32(
    'The priority of pods of this class; higher is more important. At most 1000000000 for classes of your own. Defaults to 0; cannot be changed.',
    { default: 0 },
  ),
  globalDefault: s.boolean(
    'Whether pods without a priorityClassName get this class. Only one class can be the default. Defaults to false.',
    { omitZero: true },
  ),
  description: s.string('Free text that says which pods the class is meant for.', { omitZero: true }),
  preemptionPolicy: s.enum(
    ['PreemptLowerPriority', 'Never'],
    '`PreemptLowerPriority` lets pending pods of this class evict pods with lower priority; with `Never` they only move ahead in the scheduling queue. Defaults to PreemptLowerPriority; cannot be changed.',
    { default: 'PreemptLowerPriority', immutable: true },
  ),
};

export type PriorityClass = KubeObject & ObjectType<typeof fields>;

/** Names a pod priority. */
export const PriorityClass = defineKind({
  kind: 'PriorityClass',
  plural: 'priorityclasses',
  short: ['pc'],
  scope: 'Cluster',
  description:
    'Gives a name to a pod priority. Pods with higher priority are scheduled first and may preempt pods with lower priority when nodes are full.',
  versions: { 'scheduling.k8s.io/v1': {} },
  fields,
  generation: true,
  rules: [
    (now, { oldRoot: then }) => {
      if (!then) return createRules(now);
      return now.value === then.value ? [] : [forbidden('value', 'may not be changed in an update.')];
    },
  ],
  columns: ({ text, integer, flag }) => [
    name,
    integer('Value', 'Priority of pods of the class.', ({ value }) => value),
    flag('Global-Default', 'Whether pods without a class get this one.', ({ globalDefault }) => globalDefault ?? false),
    age,
    text(
      'PreemptionPolicy',
      'Whether pods of the class preempt others.',
      ({ preemptionPolicy }) => preemptionPolicy ?? '',
    ),
  ],
});

function createRules({ metadata, value, globalDefault = false }: PriorityClass): FieldError[] {
  const { name = '' } = metadata;
  if (!name.startsWith(SYSTEM_PREFIX)) {
    const detail = `maximum allowed value of a user defined priority is ${MAX_USER_PRIORITY}`;
    return value > MAX_USER_PRIORITY ? [forbidden('value', detail)] : [];
  }
  const problem = systemClassProblem(name, value, globalDefault);
  if (!problem) return [];
  const detail = `priority class names with '${SYSTEM_PREFIX}' prefix are reserved for system use only. error: ${problem}`;
  return [forbidden('metadata.name', detail)];
}

function systemClassProblem(name: string, value: number, globalDefault: boolean): string | undefined {
  if (!Object.hasOwn(systemPriorities, name)) return `${name} is not a known system priority class`;
  if (value !== systemPriorities[name]) return `value of ${name} PriorityClass must be ${systemPriorities[name]}`;
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}
