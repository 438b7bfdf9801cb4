/** The rows that people know from kubectl, kind by kind. */
import { describe, expect, it } from 'vitest';
import { allKinds } from '../../src/kinds/all.ts';
import { defaultColumns } from '../../src/kinds/columns/column.ts';

const NOW = Date.parse('2026-06-01T12:00:00Z');
const ago = (seconds: number) => `${new Date(NOW - seconds * 1000).toISOString().slice(0, 19)}Z`;

/** The cells by their columns; those not shown without `-o wide` after a bar. */
function row(kind: string, object: any): string {
  const found = allKinds.find((each) => each.kind === kind);
  if (!found) throw new Error(`there is no ${kind}`);
  const columns = found.columns ?? defaultColumns;
  const shown = { ...object, metadata: { name: 'x', creationTimestamp: ago(300), ...object.metadata } };
  return columns.map(({ name, priority, cell }) => `${priority ? '|' : ''}${name}=${cell(shown, NOW)}`).join(' ');
}

const template = {
  spec: {
    containers: [
      { name: 'a', image: 'nginx' },
      { name: 'b', image: 'redis:7' },
    ],
  },
};
const selector = {
  matchLabels: { app: 'web' },
  matchExpressions: [{ key: 'tier', operator: 'In', values: ['b', 'a'] }],
};
const workload = '|Containers=a,b |Images=nginx,redis:7 |Selector=app=web,tier in (a,b)';

describe.each<[kind: string, rows: [what: string, object: any, row: string][]]>([
  [
    'Pod',
    [
      [
        'that runs and was started again',
        {
          spec: {
            nodeName: 'n1',
            containers: [{}],
            readinessGates: [{ conditionType: 'lb' }, { conditionType: 'dns' }],
          },
          status: {
            phase: 'Running',
            podIPs: [{ ip: '10.0.0.7' }, { ip: 'fd00::7' }],
            conditions: [{ type: 'lb', status: 'True' }],
            containerStatuses: [
              {
                ready: true,
                restartCount: 2,
                state: { running: {} },
                lastState: { terminated: { exitCode: 1, finishedAt: ago(305) } },
              },
            ],
          },
        },
        'Name=x Ready=1/1 Status=Running Restarts=2 (5m5s ago) Age=5m |IP=10.0.0.7 |Node=n1 |Nominated Node=<none> |Readiness Gates=1/2',
      ],
      [
        'that waits',
        { spec: { containers: [{}, {}] }, status: { phase: 'Pending', nominatedNodeName: 'n2' } },
        'Name=x Ready=0/2 Status=Pending Restarts=0 Age=5m |IP=<none> |Node=<none> |Nominated Node=n2 |Readiness Gates=<none>',
      ],
    ],
  ],
  [
    'Deployment',
    [
      [
        'under way',
        {
          spec: { replicas: 3, selector, template },
          status: { readyReplicas: 1, updatedReplicas: 2, availableReplicas: 1 },
        },
        `Name=x Ready=1/3 Up-to-date=2 Available=1 Age=5m ${workload}`,
      ],
      [
        'without a status',
        { spec: { replicas: 1, selector: {}, template } },
        'Name=x Ready=0/1 Up-to-date=0 Available=0 Age=5m |Containers=a,b |Images=nginx,redis:7 |Selector=',
      ],
    ],
  ],
  [
    'ReplicaSet',
    [
      [
        'of three',
        { spec: { replicas: 3, selector, template }, status: { replicas: 2, readyReplicas: 1 } },
        `Name=x Desired=3 Current=2 Ready=1 Age=5m ${workload}`,
      ],
    ],
  ],
  [
    'ReplicationController',
    [
      [
        'of two',
        { spec: { replicas: 2, selector: { b: '2', a: '1' }, template }, status: { replicas: 2 } },
        'Name=x Desired=2 Current=2 Ready=0 Age=5m |Containers=a,b |Images=nginx,redis:7 |Selector=a=1,b=2',
      ],
    ],
  ],
  [
    'DaemonSet',
    [
      [
        'on some nodes',
        {
          spec: { selector, template: { spec: { ...template.spec, nodeSelector: { disk: 'ssd' } } } },
          status: { desiredNumberScheduled: 4, currentNumberScheduled: 3, numberReady: 2, numberAvailable: 1 },
        },
        `Name=x Desired=4 Current=3 Ready=2 Up-to-date=0 Available=1 Node Selector=disk=ssd Age=5m ${workload}`,
      ],
    ],
  ],
  [
    'Job',
    [
      [
        'that is done',
        {
          spec: { completions: 3, selector, template },
          status: {
            succeeded: 3,
            startTime: ago(300),
            completionTime: ago(100),
            conditions: [{ type: 'Complete', status: 'True' }],
          },
        },
        `Name=x Status=Complete Completions=3/3 Duration=3m20s Age=5m ${workload}`,
      ],
      [
        'that takes what it needs',
        { spec: { parallelism: 4, template }, status: { startTime: ago(30) } },
        'Name=x Status=Running Completions=0/1 of 4 Duration=30s Age=5m |Containers=a,b |Images=nginx,redis:7 |Selector=<none>',
      ],
      [
        'that has not begun',
        { spec: { parallelism: 1 }, status: { conditions: [{ type: 'Suspended', status: 'True' }] } },
        'Name=x Status=Suspended Completions=0/1 Duration= Age=5m |Containers= |Images= |Selector=<none>',
      ],
      [
        'that is being deleted',
        { metadata: { deletionTimestamp: ago(1) }, spec: { completions: 1 } },
        'Name=x Status=Terminating Completions=0/1 Duration= Age=5m |Containers= |Images= |Selector=<none>',
      ],
    ],
  ],
  [
    'CronJob',
    [
      [
        'of every hour',
        {
          spec: { schedule: '0 * * * *', suspend: false, jobTemplate: { spec: { template } } },
          status: { active: [{}], lastScheduleTime: ago(60) },
        },
        'Name=x Schedule=0 * * * * Timezone=<none> Suspend=False Active=1 Last Schedule=60s Age=5m |Containers=a,b |Images=nginx,redis:7 |Selector=<none>',
      ],
    ],
  ],
  [
    'Service',
    [
      [
        'inside the cluster',
        {
          spec: {
            type: 'ClusterIP',
            clusterIPs: ['10.96.0.1', 'fd00::1'],
            ports: [
              { port: 80, protocol: 'TCP' },
              { port: 53, protocol: 'UDP' },
            ],
            selector: { app: 'web' },
          },
        },
        'Name=x Type=ClusterIP Cluster-IP=10.96.0.1 External-IP=<none> Port(s)=80/TCP,53/UDP Age=5m |Selector=app=web',
      ],
      [
        'without an address',
        { spec: { type: 'ClusterIP', clusterIPs: ['None'] } },
        'Name=x Type=ClusterIP Cluster-IP=None External-IP=<none> Port(s)=<none> Age=5m |Selector=<none>',
      ],
      [
        'on every node',
        {
          spec: {
            type: 'NodePort',
            clusterIPs: ['10.96.0.2'],
            externalIPs: ['192.0.2.1', '192.0.2.2'],
            ports: [{ port: 80, nodePort: 30080, protocol: 'TCP' }],
          },
        },
        'Name=x Type=NodePort Cluster-IP=10.96.0.2 External-IP=192.0.2.1,192.0.2.2 Port(s)=80:30080/TCP Age=5m |Selector=<none>',
      ],
      [
        'that waits for its balancer',
        { spec: { type: 'LoadBalancer', clusterIPs: ['10.96.0.3'] } },
        'Name=x Type=LoadBalancer Cluster-IP=10.96.0.3 External-IP=<pending> Port(s)=<none> Age=5m |Selector=<none>',
      ],
      [
        'that has its balancer',
        {
          spec: { type: 'LoadBalancer', clusterIPs: ['10.96.0.3'], externalIPs: ['192.0.2.9'] },
          status: { loadBalancer: { ingress: [{ hostname: 'lb.example.com' }, { ip: '198.51.100.1' }] } },
        },
        'Name=x Type=LoadBalancer Cluster-IP=10.96.0.3 External-IP=198.51.100.1,lb.example.com,192.0.2.9 Port(s)=<none> Age=5m |Selector=<none>',
      ],
      [
        'elsewhere',
        { spec: { type: 'ExternalName', externalName: 'db.example.com' } },
        'Name=x Type=ExternalName Cluster-IP=<none> External-IP=db.example.com Port(s)=<none> Age=5m |Selector=<none>',
      ],
    ],
  ],
  [
    'Node',
    [
      [
        'that is ready',
        {
          metadata: { labels: { 'node-role.kubernetes.io/worker': '', 'kubernetes.io/role': 'edge' } },
          spec: { unschedulable: true },
          status: {
            conditions: [{ type: 'Ready', status: 'True' }],
            addresses: [{ type: 'InternalIP', address: '192.0.2.5' }],
            nodeInfo: {
              kubeletVersion: 'v1.36.4',
              osImage: 'Debian',
              kernelVersion: '6.1',
              architecture: 'arm64',
              containerRuntimeVersion: 'containerd://2',
            },
          },
        },
        'Name=x Status=Ready,SchedulingDisabled Roles=edge,worker Age=5m Version=v1.36.4 |Internal-IP=192.0.2.5 |External-IP=<none> |OS-Image=Debian |Kernel-Version=6.1 (arm64) |Container-Runtime=containerd://2',
      ],
      [
        'of which nothing is known',
        {},
        'Name=x Status=Unknown Roles=<none> Age=5m Version= |Internal-IP=<none> |External-IP=<none> |OS-Image=<unknown> |Kernel-Version=<unknown> |Container-Runtime=<unknown>',
      ],
    ],
  ],
  [
    'Event',
    [
      [
        'of the older form',
        {
          type: 'Warning',
          reason: 'BackOff',
          message: ' it fell over \n',
          involvedObject: { kind: 'Pod', name: 'p', fieldPath: 'spec.containers{a}' },
          source: { component: 'kubelet', host: 'n1' },
          firstTimestamp: ago(600),
          lastTimestamp: ago(5),
          count: 7,
        },
        'Last Seen=5s Type=Warning Reason=BackOff Object=pod/p |Subobject=spec.containers{a} |Source=kubelet, n1 Message=it fell over |First Seen=10m |Count=7 |Name=x',
      ],
      [
        'of the newer form',
        {
          involvedObject: { kind: 'Node' },
          source: {},
          reportingComponent: 'example.com/c',
          reportingInstance: 'i',
          eventTime: ago(90),
          series: { count: 3, lastObservedTime: ago(30) },
        },
        'Last Seen=30s Type= Reason= Object=node |Subobject= |Source=example.com/c, i Message= |First Seen=90s |Count=3 |Name=x',
      ],
    ],
  ],
  [
    'Endpoints',
    [
      [
        'of many',
        {
          subsets: [
            { addresses: [{ ip: '10.0.0.1' }, { ip: 'fd00::1' }], ports: [{ port: 80 }, { port: 81 }] },
            { addresses: [{ ip: '10.0.0.3' }] },
          ],
        },
        'Name=x Endpoints=10.0.0.1:80,[fd00::1]:80,10.0.0.1:81 + 2 more... Age=5m',
      ],
      ['of none', {}, 'Name=x Endpoints=<none> Age=5m'],
    ],
  ],
  [
    'PersistentVolume',
    [
      [
        'that is bound',
        {
          spec: {
            capacity: { storage: '5Gi' },
            accessModes: ['ReadOnlyMany', 'ReadWriteOnce'],
            persistentVolumeReclaimPolicy: 'Retain',
            claimRef: { namespace: 'ns', name: 'c' },
            storageClassName: 'fast',
            volumeMode: 'Filesystem',
          },
          status: { phase: 'Bound' },
        },
        'Name=x Capacity=5Gi Access Modes=RWO,ROX Reclaim Policy=Retain Status=Bound Claim=ns/c StorageClass=fast VolumeAttributesClass=<unset> Reason= Age=5m |VolumeMode=Filesystem',
      ],
    ],
  ],
  [
    'PersistentVolumeClaim',
    [
      [
        'that waits',
        { spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'fast' }, status: { phase: 'Pending' } },
        'Name=x Status=Pending Volume= Capacity= Access Modes= StorageClass=fast VolumeAttributesClass=<unset> Age=5m |VolumeMode=<unset>',
      ],
      [
        'that goes',
        {
          metadata: { deletionTimestamp: ago(1), annotations: { 'volume.beta.kubernetes.io/storage-class': 'old' } },
          spec: { volumeName: 'pv' },
          status: { phase: 'Bound', accessModes: ['ReadWriteMany'], capacity: { storage: '1Gi' } },
        },
        'Name=x Status=Terminating Volume=pv Capacity=1Gi Access Modes=RWX StorageClass=old VolumeAttributesClass=<unset> Age=5m |VolumeMode=<unset>',
      ],
    ],
  ],
  [
    'HorizontalPodAutoscaler',
    [
      [
        'by many metrics',
        {
          spec: {
            scaleTargetRef: { kind: 'Deployment', name: 'web' },
            minReplicas: 1,
            maxReplicas: 9,
            metrics: [
              { type: 'Resource', resource: { name: 'cpu', target: { averageUtilization: 80 } } },
              { type: 'External', external: { target: { averageValue: '10' } } },
              { type: 'Pods', pods: { target: { averageValue: '1k' } } },
            ],
          },
          status: {
            currentReplicas: 2,
            currentMetrics: [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: 35 } } }],
          },
        },
        'Name=x Reference=Deployment/web Targets=cpu: 35%/80%, <unknown>/10 (avg) + 1 more... MinPods=1 MaxPods=9 Replicas=2 Age=5m',
      ],
    ],
  ],
  ['Namespace', [['in use', { status: { phase: 'Active' } }, 'Name=x Status=Active Age=5m']]],
  ['Secret', [['of two', { type: 'Opaque', data: { a: '', b: '' } }, 'Name=x Type=Opaque Data=2 Age=5m']]],
  ['ConfigMap', [['of three', { data: { a: '', b: '' }, binaryData: { c: '' } }, 'Name=x Data=3 Age=5m']]],
  ['ServiceAccount', [['of its name', {}, 'Name=x Age=5m']]],
  ['Lease', [['that is held', { spec: { holderIdentity: 'me' } }, 'Name=x Holder=me Age=5m']]],
])('%s', (kind, rows) => {
  it.each(rows)('%s', (_, object, expected) => {
    expect(row(kind, object)).toBe(expected);
  });
});
