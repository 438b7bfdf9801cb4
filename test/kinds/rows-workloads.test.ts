/** Rows of workloads. */
import { ago, expectRows, selector, template } from './row.ts';

const workload = '|Containers=a,b |Images=nginx,redis:7 |Selector=app=web,tier in (a,b)';

expectRows([
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
  [
    'StatefulSet',
    [
      [
        'of three',
        { spec: { replicas: 3, selector, template }, status: { readyReplicas: 2 } },
        'Name=x Ready=2/3 Age=5m |Containers=a,b |Images=nginx,redis:7',
      ],
    ],
  ],
  [
    'ControllerRevision',
    [
      [
        'of a set',
        {
          metadata: {
            ownerReferences: [
              { kind: 'Pod' },
              { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'db', controller: true },
            ],
          },
          revision: 4,
        },
        'Name=x Controller=statefulset.apps/db Revision=4 Age=5m',
      ],
      ['of nobody', { revision: 1 }, 'Name=x Controller=<none> Revision=1 Age=5m'],
    ],
  ],
  [
    'PodTemplate',
    [
      [
        'with labels',
        { template: { ...template, metadata: { labels: { app: 'web' } } } },
        'Name=x Containers=a,b Images=nginx,redis:7 Pod Labels=app=web',
      ],
    ],
  ],
  [
    'PodDisruptionBudget',
    [
      [
        'in per cent',
        { spec: { minAvailable: '50%' }, status: { disruptionsAllowed: 2 } },
        'Name=x Min Available=50% Max Unavailable=N/A Allowed Disruptions=2 Age=5m',
      ],
      [
        'in pods',
        { spec: { maxUnavailable: 0 } },
        'Name=x Min Available=N/A Max Unavailable=0 Allowed Disruptions=0 Age=5m',
      ],
    ],
  ],
]);
