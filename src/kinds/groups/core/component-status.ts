import { s } from '../../../schema/builders.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { name, type Sparse } from '../../columns/column.ts';
import { defineKind, type KubeObject } from '../../kind.ts';

const ComponentCondition = s.object('ComponentCondition', 'Health of a component.', {
  type: s.string('Type of the condition. The only type is Healthy.', { zero: true }),
  status: s.string('Whether the component is healthy: True, False or Unknown.', { zero: true }),
  message: s.string('Answer of the component to the health check.', { omitZero: true }),
  error: s.string('Why the health check failed.', { omitZero: true }),
});

const fields = {
  conditions: s.listMap(ComponentCondition, 'Results of the health check.', { keys: ['type'] }),
};

export type ComponentStatus = KubeObject & ObjectType<typeof fields>;

/** Computed on request and never stored. */
export const ComponentStatus = defineKind({
  kind: 'ComponentStatus',
  plural: 'componentstatuses',
  short: ['cs'],
  scope: 'Cluster',
  description: 'Health of a component of the control plane, checked on request. Deprecated.',
  versions: { v1: { deprecated: 'v1 ComponentStatus is deprecated in v1.19+' } },
  verbs: ['get', 'list'],
  fields,
  columns: ({ text }) => [
    name,
    text('Status', 'Whether the component is healthy.', (component) => {
      const condition = healthOf(component);
      return condition ? (condition.status === 'True' ? 'Healthy' : 'Unhealthy') : 'Unknown';
    }),
    text('Message', 'Answer of the component to the health check.', (component) => healthOf(component)?.message ?? ''),
    text('Error', 'Why the health check failed.', (component) => healthOf(component)?.error ?? ''),
  ],
});

function healthOf({ conditions }: Sparse<ComponentStatus>) {
  return conditions?.find(({ type }) => type === 'Healthy');
}
