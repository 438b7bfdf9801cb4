/** The initial FlowSchemas and PriorityLevelConfigurations of a cluster, with Kubernetes' values. */
import { mandatoryFlowSchemas, mandatoryPriorityLevels } from '../../../kinds/groups/flowcontrol/mandatory.ts';

type Named = readonly [name: string, spec: object];

const level = (nominalConcurrencyShares: number, lendablePercent: number, [queues, handSize]: readonly number[]) => ({
  type: 'Limited',
  limited: {
    nominalConcurrencyShares,
    lendablePercent,
    limitResponse: { type: 'Queue', queuing: { queues, handSize, queueLengthLimit: 50 } },
  },
});

// Number of queues and hand size.
const SMALL_QUEUE_SET = [16, 4];
const MEDIUM_QUEUE_SET = [64, 6];
const LARGE_QUEUE_SET = [128, 6];

const suggestedLevels: readonly Named[] = [
  ['system', level(30, 33, MEDIUM_QUEUE_SET)],
  ['node-high', level(40, 25, MEDIUM_QUEUE_SET)],
  ['leader-election', level(10, 0, SMALL_QUEUE_SET)],
  ['workload-high', level(40, 50, LARGE_QUEUE_SET)],
  ['workload-low', level(100, 90, LARGE_QUEUE_SET)],
  ['global-default', level(20, 50, LARGE_QUEUE_SET)],
];

const groups = (...names: string[]) => names.map((name) => ({ kind: 'Group', group: { name } }));
const users = (...names: string[]) => names.map((name) => ({ kind: 'User', user: { name } }));
const kubeSystem = [{ kind: 'ServiceAccount', serviceAccount: { namespace: 'kube-system', name: '*' } }];
const everybody = groups('system:unauthenticated', 'system:authenticated');
const nodes = groups('system:nodes');

const everything = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
};

interface SchemaOptions {
  readonly level: string;
  readonly precedence: number;
  readonly by?: 'ByUser' | 'ByNamespace';
  readonly rule: object;
}

const schema = ({ level: name, precedence, by, rule }: SchemaOptions) => ({
  priorityLevelConfiguration: { name },
  matchingPrecedence: precedence,
  ...(by ? { distinguisherMethod: { type: by } } : {}),
  rules: [rule],
});

const leases = (verbs: readonly string[]) => ({
  verbs,
  apiGroups: ['coordination.k8s.io'],
  resources: ['leases'],
  namespaces: ['*'],
});

const suggestedSchemas: readonly Named[] = [
  [
    'probes',
    schema({
      level: 'exempt',
      precedence: 2,
      rule: {
        subjects: everybody,
        nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }],
      },
    }),
  ],
  [
    'system-leader-election',
    schema({
      level: 'leader-election',
      precedence: 100,
      by: 'ByUser',
      rule: {
        subjects: [...users('system:kube-controller-manager', 'system:kube-scheduler'), ...kubeSystem],
        resourceRules: [leases(['get', 'create', 'update'])],
      },
    }),
  ],
  [
    'system-node-high',
    schema({
      level: 'node-high',
      precedence: 400,
      by: 'ByUser',
      rule: {
        subjects: nodes,
        resourceRules: [
          {
            verbs: ['*'],
            apiGroups: [''],
            resources: ['nodes', 'nodes/status'],
            clusterScope: true,
            namespaces: ['*'],
          },
          leases(['*']),
        ],
      },
    }),
  ],
  [
    'system-nodes',
    schema({ level: 'system', precedence: 500, by: 'ByUser', rule: { subjects: nodes, ...everything } }),
  ],
  ...['kube-controller-manager', 'kube-scheduler'].map((name): Named => {
    const rule = { subjects: users(`system:${name}`), ...everything };
    return [name, schema({ level: 'workload-high', precedence: 800, by: 'ByNamespace', rule })];
  }),
  [
    'kube-system-service-accounts',
    schema({
      level: 'workload-high',
      precedence: 900,
      by: 'ByNamespace',
      rule: { subjects: kubeSystem, ...everything },
    }),
  ],
  [
    'service-accounts',
    schema({
      level: 'workload-low',
      precedence: 9000,
      by: 'ByUser',
      rule: { subjects: groups('system:serviceaccounts'), ...everything },
    }),
  ],
  [
    'global-default',
    schema({
      level: 'global-default',
      precedence: 9900,
      by: 'ByUser',
      rule: { subjects: everybody, ...everything },
    }),
  ],
];

const exempt = { nominalConcurrencyShares: 0, lendablePercent: 0 };

/** Defaults by name. The mandatory ones, which cannot be changed, come first. */
export const defaultLevels: ReadonlyMap<string, object> = new Map([
  ...[...mandatoryPriorityLevels].map(([name, spec]): Named => {
    return [name, spec.type === 'Exempt' ? { ...spec, exempt } : spec];
  }),
  ...suggestedLevels,
]);

export const defaultSchemas: ReadonlyMap<string, object> = new Map([...mandatoryFlowSchemas, ...suggestedSchemas]);
