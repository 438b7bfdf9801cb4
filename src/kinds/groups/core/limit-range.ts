import { s } from '../../../schema/builders.ts';
import type { ObjectType } from '../../../schema/schema.ts';
import { createdAt, name } from '../../columns/column.ts';
import { defineKind, type HookContext, type KubeObject } from '../../kind.ts';
import { ResourceList } from '../../shapes/container/resources.ts';
import { type Amounts, limitRules } from './limit-range-rules.ts';

const item = {
  type: s.string({ zero: true, description: 'What is limited: Pod, Container or PersistentVolumeClaim.' }),
  max: s.use(ResourceList, { description: 'The most that one may have.' }),
  min: s.use(ResourceList, { description: 'The least that one must have.' }),
  default: s.use(ResourceList, {
    derive: limitsOfContainers,
    description: 'The limits of a container that sets none; where absent, the most it may have.',
  }),
  defaultRequest: s.use(ResourceList, {
    derive: requestsOfContainers,
    description: 'The requests of a container that makes none; where absent, its default limits, then the least.',
  }),
  maxLimitRequestRatio: s.use(ResourceList, { description: 'How many times the request the limit may be.' }),
};

const fields = {
  spec: s.object(
    'LimitRangeSpec',
    {
      limits: s.list(s.object('LimitRangeItem', item), {
        zero: true,
        rules: [limitRules],
        description: 'The limits, one entry for each type.',
      }),
    },
    { default: {}, description: 'What is limited.' },
  ),
};

export type LimitRange = KubeObject & ObjectType<typeof fields>;

/** How large one pod, container or claim in a namespace may be. */
export const LimitRange = defineKind({
  group: '',
  kind: 'LimitRange',
  plural: 'limitranges',
  short: ['limits'],
  scope: 'Namespaced',
  description: 'How much a single pod, container or claim of the namespace may ask for, and what it gets unasked.',
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
