import { s } from '../../../../schema/builders.ts';
import type { ObjectType } from '../../../../schema/schema.ts';
import { createdAt, name } from '../../../columns/column.ts';
import { defineKind, type HookContext, type KubeObject } from '../../../kind.ts';
import { ResourceList } from '../../../shapes/container/resources.ts';
import { type Amounts, limitRules } from './limit-range-rules.ts';

const item = {
  type: s.string('Type of object that the limits apply to: Pod, Container or PersistentVolumeClaim.', { zero: true }),
  max: s.use(ResourceList, 'Maximum of each resource that one object may have as limit or request.'),
  min: s.use(ResourceList, 'Minimum of each resource that one object must request.'),
  default: s.use(ResourceList, 'Limits that a container gets where it sets none. Defaults to max.', {
    derive: limitsOfContainers,
  }),
  defaultRequest: s.use(
    ResourceList,
    'Requests that a container gets where it sets none. Defaults to default, then to min.',
    { derive: requestsOfContainers },
  ),
  maxLimitRequestRatio: s.use(
    ResourceList,
    'Maximum ratio of limit to request for each resource. Both must then be set.',
  ),
};

const fields = {
  spec: s.struct('LimitRangeSpec', 'Limits that are enforced in the namespace.', {
    limits: s.list(
      s.object('LimitRangeItem', 'Limits and defaults for objects of one type.', item),
      'Limits and defaults, for each type of object.',
      { zero: true, rules: [limitRules] },
    ),
  }),
};

export type LimitRange = KubeObject & ObjectType<typeof fields>;

/** Limits single pods, containers and claims of a namespace. */
export const LimitRange = defineKind({
  kind: 'LimitRange',
  short: ['limits'],
  scope: 'Namespaced',
  description: 'Limits the resources of each pod, container or claim of a namespace, and sets defaults for containers.',
  versions: { v1: {} },
  fields,
  onCreate: ({ metadata }: LimitRange, { uuid }: HookContext) => {
    metadata.name ||= uuid();
  },
  createOnUpdate: true,
  columns: [name, createdAt],
});

function limitsOfContainers(limit: Amounts): ResourceList | undefined {
  return limit.type === 'Container' ? filled({ ...limit.max, ...limit.default }) : limit.default;
}

function requestsOfContainers({ type, min, default: limits, defaultRequest }: Amounts): ResourceList | undefined {
  return type === 'Container' ? filled({ ...min, ...limits, ...defaultRequest }) : defaultRequest;
}

function filled(list: ResourceList): ResourceList | undefined {
  return Object.keys(list).length ? list : undefined;
}
