/**
 * Requests behind `observed-1.7.json`, which has only their methods, paths and answers. The bodies are reconstructed
 * from the answers.
 */
import type { RequestOptions } from '../program.ts';

/** State of the run so far that a body may need. */
interface World {
  /** The object at the path of this case, as it is now. */
  current(): Promise<any>;
}

type Body = RequestOptions | ((world: World) => Promise<RequestOptions>);

const container = (more: object = {}) => ({
  name: 'main',
  image: 'busybox:1.36',
  command: ['sleep', '3600'],
  ...more,
});

const pod = (name: string, spec: object = {}, main: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: name } },
  spec: { containers: [container(main)], ...spec },
});

const deployment = (name: string, spec: object = {}) => ({
  apiVersion: 'apps/v1beta1',
  kind: 'Deployment',
  metadata: { name, labels: { app: name } },
  spec: {
    replicas: 0,
    template: { metadata: { labels: { app: name } }, spec: { containers: [container()] } },
    ...spec,
  },
});

const service = (name: string, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { selector: { app: 'x' }, ports: [{ port: 80, targetPort: 8080 }], ...spec },
});

const json = (body: unknown): RequestOptions => ({ body });
const patch = (type: 'merge' | 'strategic-merge' | 'json', body: unknown): RequestOptions => ({
  body,
  type: `application/${type === 'json' ? 'json-patch' : `${type}-patch`}+json`,
});

/** The cases that both pods and deployments went through. */
function generic(prefix: string, make: (name: string) => any, status: object, nextStatus: object) {
  const withMeta = (name: string, change: (object: any) => void) => {
    const object = make(name);
    change(object);
    return json(object);
  };
  const { apiVersion, kind } = make('x');
  const cases: Record<string, Body> = {
    create: json(make('a')),
    'create-dup': json(make('a')),
    'create-pretty': json(make('b')),
    'create-gen': withMeta('x', ({ metadata }) => {
      delete metadata.name;
      metadata.generateName = 'gen-';
    }),
    'create-noname': withMeta('x', ({ metadata }) => delete metadata.name),
    'create-badname': withMeta('x', ({ metadata }) => {
      metadata.name = 'Bad_Name';
    }),
    'create-empty': json(''),
    'create-garbage': json('{"kind":'),
    'create-wrongkind': json({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'zz' } }),
    'create-wrongversion': json({ ...make('zz'), apiVersion: 'nope/v9' }),
    'create-nospec': json({ apiVersion, kind, metadata: { name: 'zz' } }),
    'create-otherns': withMeta('zz', ({ metadata }) => {
      metadata.namespace = 'other';
    }),
    'create-media': { body: JSON.stringify(make('zz')), type: 'text/plain' },
    'create-yaml': { body: JSON.stringify(make('y'), undefined, 1), type: 'application/yaml' },
    'create-noid': withMeta('inferred', (object) => {
      delete object.kind;
      delete object.apiVersion;
    }),
    'put-nobody': json({ apiVersion, kind, metadata: {} }),
    'put-name': json(make('other')),
    'put-404': json(make('none')),
    'put-stale': async (world) => {
      const object = await world.current();
      object.metadata.resourceVersion = '1';
      return json(object);
    },
    put: async (world) => {
      const object = await world.current();
      object.metadata.labels.put = 'yes';
      object.metadata.annotations = { n: '1' };
      object.status = { phase: 'Running', observedGeneration: 9 };
      return json(object);
    },
    'patch-merge': patch('merge', { metadata: { labels: { patched: 'merge' }, annotations: { n: null } } }),
    'patch-strategic': patch('strategic-merge', { metadata: { labels: { patched: 'strategic' } } }),
    'patch-json': patch('json', [{ op: 'replace', path: '/metadata/labels/patched', value: 'json' }]),
    'patch-json-bad': patch('json', [{ op: 'test', path: '/metadata/name', value: 'not-it' }]),
    'patch-media': { body: '{}', type: 'application/json' },
    'patch-404': patch('merge', { metadata: { labels: { a: 'b' } } }),
    'patch-rename': patch('merge', { metadata: { name: 'b' } }),
    'status-patch': patch('merge', { metadata: { labels: { viastatus: 'x' } }, spec: { replicas: 9 }, status }),
    'status-put': async (world) => {
      const object = await world.current();
      Object.assign(object.status, nextStatus);
      return json(object);
    },
    'delete-both': json({ orphanDependents: true, propagationPolicy: 'Orphan' }),
    'delete-badpolicy': json({ propagationPolicy: 'Sideways' }),
    'delete-uid': json({ preconditions: { uid: 'not-it' } }),
    'post-item': json(make('a')),
    'patch-coll': patch('merge', { metadata: { labels: { a: 'b' } } }),
  };
  return Object.fromEntries(Object.entries(cases).map(([name, body]) => [`${prefix}-${name}`, body]));
}

const pods: Record<string, Body> = {
  'pod-latest': json(pod('latest', {}, { image: 'nginx' })),
  'pod-tagged': json(pod('tagged', {}, { image: 'nginx:1.2' })),
  'pod-nocontainers': json(pod('nc', { containers: [] })),
  'pod-dupcontainers': json(pod('dc', { containers: [container({ name: 'a' }), container({ name: 'a' })] })),
  'pod-badpull': json(pod('bpull', {}, { imagePullPolicy: 'Sometimes' })),
  'pod-badrestart': json(pod('br', { restartPolicy: 'Perhaps' })),
  'pod-baddns': json(pod('bd', { dnsPolicy: 'Perhaps' })),
  'pod-neggrace': json(pod('ngr', { terminationGracePeriodSeconds: -1 })),
  'pod-zerodeadline': json(pod('zd', { activeDeadlineSeconds: 0 })),
  'pod-probes': json(
    pod(
      'pr',
      {},
      {
        ports: [{ name: 'http', containerPort: 80 }],
        livenessProbe: { httpGet: { path: '/', port: 80 } },
        readinessProbe: { tcpSocket: { port: 'http' }, periodSeconds: 3 },
      },
    ),
  ),
  'pod-badprobe': json(pod('bpr', {}, { livenessProbe: { periodSeconds: 1 } })),
  'pod-init': json(
    pod('in', { volumes: [{ name: 'v', emptyDir: {} }], initContainers: [{ name: 'i1', image: 'busybox:1' }] }),
  ),
  'pod-initprobe': json(
    pod('ip', { initContainers: [{ name: 'i1', image: 'busybox:1', readinessProbe: { tcpSocket: { port: 80 } } }] }),
  ),
  'pod-badmount': json(pod('bm', {}, { volumeMounts: [{ name: 'missing', mountPath: '/x' }] })),
  'pod-resources': json(pod('rs', {}, { resources: { limits: { cpu: '0.5', memory: '1024Mi' } } })),
  'pod-badresources': json(pod('brs', {}, { resources: { limits: { cpu: '100m' }, requests: { cpu: '1' } } })),
  'pod-badqty': json(pod('bq', {}, { resources: { limits: { cpu: 'lots' } } })),
  'pod-hostnet': json(pod('hn', { hostNetwork: true, hostPID: true }, { ports: [{ containerPort: 80 }] })),
  'pod-salias': json(pod('sal', { serviceAccount: 'default' })),
  'pod-hostalias': json(pod('ha', { hostAliases: [{ ip: '1.2.3.4', hostnames: ['foo.local'] }] })),
  'pod-tolerations': json(
    pod('tl', {
      tolerations: [{ key: 'k', operator: 'Exists', effect: 'NoSchedule' }],
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] }],
          },
        },
      },
    }),
  ),
  'pod-tty': json(
    pod(
      'tt',
      {},
      {
        ...{ stdin: true, stdinOnce: true, tty: true, workingDir: '/w' },
        ...{ terminationMessagePath: '/tmp/x', terminationMessagePolicy: 'FallbackToLogsOnError' },
      },
    ),
  ),
  'pod-envdup': json(
    pod(
      'ev',
      {},
      {
        envFrom: [{ configMapRef: { name: 'c' } }],
        env: [
          { name: 'A', value: '1' },
          { name: 'B', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
        ],
      },
    ),
  ),
  'pod-immutable': patch('strategic-merge', { spec: { containers: [{ name: 'main', command: ['false'] }] } }),
  'pod-image-update': patch('strategic-merge', { spec: { containers: [{ name: 'main', image: 'nginx:2' }] } }),
  'pod-add-container': patch('strategic-merge', { spec: { containers: [{ name: 'more', image: 'nginx:2' }] } }),
  'pod-toleration-add': patch('merge', { spec: { tolerations: [{ key: 'n', operator: 'Exists' }] } }),
  'pod-bind': json({ metadata: { name: 'tagged' }, target: { kind: 'Node', name: 'no-such-node' } }),
  'pod-bind-again': json({ metadata: { name: 'tagged' }, target: { kind: 'Node', name: 'another-node' } }),
};

const strategy = (rollingUpdate: object) => ({ strategy: { rollingUpdate } });

const deployments: Record<string, Body> = {
  'deploy-surge0': json(deployment('s0', strategy({ maxSurge: 0, maxUnavailable: 0 }))),
  'deploy-recreate': json(deployment('rc', { strategy: { type: 'Recreate' } })),
  'deploy-recreate-ru': json(deployment('rr', { strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } })),
  'deploy-badpct': json(deployment('bp', strategy({ maxSurge: 'lots' }))),
  'deploy-neg': json(deployment('ng', { replicas: -1 })),
  'deploy-selmismatch': json(deployment('sm', { selector: { matchLabels: { app: 'another' } } })),
  'deploy-minready': json(deployment('mr', { minReadySeconds: 600 })),
  'deploy-full': json(
    deployment('full', {
      ...strategy({ maxSurge: '30%', maxUnavailable: 1 }),
      ...{ minReadySeconds: 5, revisionHistoryLimit: 0, paused: true, progressDeadlineSeconds: 60 },
    }),
  ),
  'deploy-scale-put': json({ metadata: { name: 'full' }, spec: { replicas: 3 } }),
  'deploy-scale-neg': json({ metadata: { name: 'full' }, spec: { replicas: -3 } }),
  'deploy-rollback': json({ name: 'full', rollbackTo: { revision: 0 }, updatedAnnotations: { why: 'test' } }),
  'deploy-rollback-noname': json({ rollbackTo: { revision: 0 } }),
  'deploy-rollback-wrongname': json({ name: 'other', rollbackTo: { revision: 0 } }),
};

const others: Record<string, Body> = {
  'svc-create': json(service('one')),
  'svc-nodeport': json(service('np', { type: 'NodePort' })),
  'svc-nodeport-out': json(service('npo', { type: 'NodePort', ports: [{ port: 80, nodePort: 5 }] })),
  'svc-lb': json(service('lb', { type: 'LoadBalancer' })),
  'svc-headless': json(service('hl', { clusterIP: 'None' })),
  'svc-external': json({
    ...service('ex'),
    spec: { type: 'ExternalName', externalName: 'example.com' },
  }),
  'svc-noports': json({ ...service('nop'), spec: { selector: { app: 'x' } } }),
  'svc-dupports': json(service('dup', { ports: [{ port: 80 }, { port: 81 }] })),
  'svc-named': json(
    service('nm', {
      ports: [
        { name: 'http', port: 80, targetPort: 'web' },
        { name: 'https', port: 443 },
      ],
    }),
  ),
  'svc-badtype': json(service('bt', { type: 'Magic' })),
  'svc-ip-immutable': patch('merge', { spec: { clusterIP: '10.97.200.200' } }),
  'svc-port-merge': patch('strategic-merge', { spec: { ports: [{ port: 443, targetPort: 9443 }] } }),
  'cm-create': json({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { a: '1' } }),
  'cm-badkey': json({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'cb' }, data: { 'a b': '1' } }),
  'secret-create': json({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' }, stringData: { a: 'hello' } }),
  'secret-badb64': json({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'sb' }, data: { a: '***' } }),
};

/** Bodies by the name of the case; a case without one has no body. */
export const bodies: Readonly<Record<string, Body>> = {
  ...generic('pod', pod, { message: 'hello' }, { message: 'put' }),
  ...generic('deploy', deployment, { observedGeneration: 3 }, { observedGeneration: 4 }),
  ...pods,
  ...deployments,
  ...others,
};
