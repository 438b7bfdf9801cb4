import { s } from '../../../schema/builders.ts';
import { type FieldError, forbidden } from '../../../schema/field-error.ts';
import type { ObjectType, RuleContext } from '../../../schema/schema.ts';
import { age, flag, integer, name, text } from '../../columns/column.ts';
import { defineKind, type KubeObject } from '../../kind.ts';

/** Above it are only the cluster's own. */
const HIGHEST = 1_000_000_000;
const SYSTEM_PREFIX = 'system-';
/** The classes of the cluster's own pods, and their priorities. */
export const systemPriorities: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2 * HIGHEST,
  'system-node-critical': 2 * HIGHEST + 1000,
};

const fields = {
  value: s.int32({ default: 0, description: 'The priority: pods with a higher one come first. Cannot be changed.' }),
  globalDefault: s.boolean({ omitZero: true, description: 'Pods that name no class get this one.' }),
  description: s.string({ omitZero: true, description: 'What the class is meant for.' }),
  preemptionPolicy: s.enum(['PreemptLowerPriority', 'Never'], {
    default: 'PreemptLowerPriority',
    immutable: true,
    description: 'Whether pods of the class push out others of lower priority. Cannot be changed.',
  }),
};

export type PriorityClass = KubeObject & ObjectType<typeof fields>;

/** How important pods are. */
export const PriorityClass = defineKind({
  group: 'scheduling.k8s.io',
  kind: 'PriorityClass',
  plural: 'priorityclasses',
  short: ['pc'],
  scope: 'Cluster',
  description: 'A name for how important pods are: which are placed first, and which go when there is no room for all.',
  versions: { 'scheduling.k8s.io/v1': {} },
  fields,
  generation: true,
  rules: [
    (now: PriorityClass, { oldRoot: then }: RuleContext) => {
      if (!then) return allowed(now);
      return now.value === then.value ? [] : [forbidden('value', 'may not be changed in an update.')];
    },
  ],
  columns: [
    name,
    integer('Value', 'The priority.', ({ value }) => value),
    flag('Global-Default', 'Whether pods have it that name none.', ({ globalDefault }) => globalDefault ?? false),
    age,
    text('PreemptionPolicy', 'Whether others must make room.', ({ preemptionPolicy }) => preemptionPolicy ?? ''),
  ],
});

function allowed({ metadata, value, globalDefault = false }: PriorityClass): FieldError[] {
  const { name = '' } = metadata;
  if (!name.startsWith(SYSTEM_PREFIX)) {
    const detail = `maximum allowed value of a user defined priority is ${HIGHEST}`;
    return value > HIGHEST ? [forbidden('value', detail)] : [];
  }
  const problem = whyNotSystem(name, value, globalDefault);
  if (!problem) return [];
  const detail = `priority class names with '${SYSTEM_PREFIX}' prefix are reserved for system use only. error: ${problem}`;
  return [forbidden('metadata.name', detail)];
}

function whyNotSystem(name: string, value: number, globalDefault: boolean): string | undefined {
  if (!Object.hasOwn(systemPriorities, name)) return `${name} is not a known system priority class`;
  if (value !== systemPriorities[name]) return `value of ${name} PriorityClass must be ${systemPriorities[name]}`;
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}
