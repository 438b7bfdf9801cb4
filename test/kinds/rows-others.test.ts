/** Rows of all other kinds. */
import { ago, expectRows } from './row.ts';

expectRows([
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
    'ResourceQuota',
    [
      [
        'in use',
        { status: { hard: { 'limits.cpu': '4', pods: '10', cpu: '2' }, used: { pods: '3', 'limits.cpu': '1' } } },
        'Name=x Request=cpu: 0/2, pods: 3/10 Limit=limits.cpu: 1/4 Age=5m',
      ],
    ],
  ],
  [
    'ComponentStatus',
    [
      [
        'that fails',
        { conditions: [{ type: 'Healthy', status: 'False', message: 'no', error: 'rejected' }] },
        'Name=x Status=Unhealthy Message=no Error=rejected',
      ],
      ['that was not asked', {}, 'Name=x Status=Unknown Message= Error='],
    ],
  ],
  ['LimitRange', [['of its time', {}, 'Name=x Created At=2026-06-01T11:55:00Z']]],
  ['ClusterRole', [['of its time', {}, 'Name=x Created At=2026-06-01T11:55:00Z']]],
  [
    'RoleBinding',
    [
      [
        'for everybody',
        {
          roleRef: { kind: 'Role', name: 'reader' },
          subjects: [
            { kind: 'User', name: 'ann' },
            { kind: 'Group', name: 'devs' },
            { kind: 'User', name: 'bob' },
            { kind: 'ServiceAccount', namespace: 'ns', name: 'bot' },
          ],
        },
        'Name=x Role=Role/reader Age=5m |Users=ann, bob |Groups=devs |ServiceAccounts=ns/bot',
      ],
    ],
  ],
  [
    'CertificateSigningRequest',
    [
      [
        'that was issued',
        {
          spec: { signerName: 'example.com/s', username: 'ann', expirationSeconds: 3600 },
          status: { conditions: [{ type: 'Approved' }], certificate: 'AA==' },
        },
        'Name=x Age=5m SignerName=example.com/s Requestor=ann RequestedDuration=60m Condition=Approved,Issued',
      ],
      [
        'that waits',
        { spec: { signerName: 'example.com/s', username: 'ann' } },
        'Name=x Age=5m SignerName=example.com/s Requestor=ann RequestedDuration=<none> Condition=Pending',
      ],
    ],
  ],
  [
    'StorageClass',
    [
      [
        'that is the default',
        { metadata: { annotations: { 'storageclass.beta.kubernetes.io/is-default-class': 'true' } }, provisioner: 'p' },
        'Name=x (default) Provisioner=p ReclaimPolicy=Delete VolumeBindingMode=Immediate AllowVolumeExpansion=false Age=5m',
      ],
    ],
  ],
  [
    'VolumeAttachment',
    [
      [
        'that is done',
        {
          spec: { attacher: 'a', source: { persistentVolumeName: 'pv' }, nodeName: 'n' },
          status: { attached: true },
        },
        'Name=x Attacher=a PV=pv Node=n Attached=true Age=5m',
      ],
    ],
  ],
  ['CSINode', [['with drivers', { spec: { drivers: [{}, {}] } }, 'Name=x Drivers=2 Age=5m']]],
  [
    'CSIDriver',
    [
      [
        'that says nothing',
        {},
        'Name=x AttachRequired=true PodInfoOnMount=false StorageCapacity=false TokenRequests=<unset> RequiresRepublish=false Modes=<none> Age=5m',
      ],
      [
        'that says something',
        {
          spec: {
            attachRequired: false,
            tokenRequests: [{ audience: 'a' }, { audience: 'b' }],
            volumeLifecycleModes: ['Persistent', 'Ephemeral'],
          },
        },
        'Name=x AttachRequired=false PodInfoOnMount=false StorageCapacity=false TokenRequests=a,b RequiresRepublish=false Modes=Persistent,Ephemeral Age=5m',
      ],
    ],
  ],
  [
    'PriorityClass',
    [
      [
        'of value',
        { value: 7, preemptionPolicy: 'Never' },
        'Name=x Value=7 Global-Default=false Age=5m PreemptionPolicy=Never',
      ],
    ],
  ],
  ['RuntimeClass', [['with a handler', { handler: 'kata' }, 'Name=x Handler=kata Age=5m']]],
  [
    'FlowSchema',
    [
      [
        'whose level is there',
        {
          spec: {
            priorityLevelConfiguration: { name: 'l' },
            matchingPrecedence: 10,
            distinguisherMethod: { type: 'ByUser' },
          },
          status: { conditions: [{ type: 'Dangling', status: 'False' }] },
        },
        'Name=x PriorityLevel=l MatchingPrecedence=10 DistinguisherMethod=ByUser Age=5m MissingPL=False',
      ],
    ],
  ],
  [
    'PriorityLevelConfiguration',
    [
      [
        'that queues',
        {
          spec: {
            type: 'Limited',
            limited: {
              nominalConcurrencyShares: 30,
              limitResponse: { queuing: { queues: 64, handSize: 8, queueLengthLimit: 50 } },
            },
          },
        },
        'Name=x Type=Limited NominalConcurrencyShares=30 Queues=64 HandSize=8 QueueLengthLimit=50 Age=5m',
      ],
      [
        'that does not',
        { spec: { type: 'Exempt' } },
        'Name=x Type=Exempt NominalConcurrencyShares=<none> Queues=<none> HandSize=<none> QueueLengthLimit=<none> Age=5m',
      ],
    ],
  ],
  [
    'ResourceClaim',
    [
      ['that waits', {}, 'Name=x State=pending Age=5m'],
      ['in use', { status: { allocation: {}, reservedFor: [{}] } }, 'Name=x State=allocated,reserved Age=5m'],
      [
        'that goes',
        { metadata: { deletionTimestamp: ago(1) }, status: { allocation: {} } },
        'Name=x State=deleted,allocated Age=5m',
      ],
    ],
  ],
  [
    'ResourceSlice',
    [
      [
        'of a node',
        { spec: { nodeName: 'n', driver: 'd', pool: { name: 'p' } } },
        'Name=x Node=n Driver=d Pool=p Age=5m',
      ],
    ],
  ],
  ['Namespace', [['in use', { status: { phase: 'Active' } }, 'Name=x Status=Active Age=5m']]],
  ['Secret', [['of two', { type: 'Opaque', data: { a: '', b: '' } }, 'Name=x Type=Opaque Data=2 Age=5m']]],
  ['ConfigMap', [['of three', { data: { a: '', b: '' }, binaryData: { c: '' } }, 'Name=x Data=3 Age=5m']]],
  ['ServiceAccount', [['of its name', {}, 'Name=x Age=5m']]],
  ['Lease', [['that is held', { spec: { holderIdentity: 'me' } }, 'Name=x Holder=me Age=5m']]],
]);
