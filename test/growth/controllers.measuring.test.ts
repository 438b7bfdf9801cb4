import { describe } from 'vitest';
import { planCollection } from '../../src/controllers/cleanup/garbage-collector/garbage-collector.ts';
import { type GraphNode, nodeOf, OwnerGraph } from '../../src/controllers/cleanup/garbage-collector/owner-graph.ts';
import { planNamespace } from '../../src/controllers/cleanup/namespace/namespace.ts';
import { planClusterRoleAggregation } from '../../src/controllers/identity/cluster-role-aggregation/cluster-role-aggregation.ts';
import { planServiceAccounts } from '../../src/controllers/identity/service-account/service-account.ts';
import { planTaintEviction } from '../../src/controllers/nodes/taint-eviction/taint-eviction.ts';
import { planDisruption } from '../../src/controllers/policy/disruption/disruption.ts';
import { planResourceQuota } from '../../src/controllers/policy/resource-quota/resource-quota.ts';
import { planDaemonSet } from '../../src/controllers/workloads/daemon-set/daemon-set.ts';
import { planJob } from '../../src/controllers/workloads/job/job.ts';
import { planReplicaSet } from '../../src/controllers/workloads/replica-set/replica-set.ts';
import { planStatefulSet } from '../../src/controllers/workloads/stateful-set/stateful-set.ts';
import { ClusterRole } from '../../src/kinds/groups/access/rbac/cluster-role.ts';
import { ControllerRevision } from '../../src/kinds/groups/apps/controller-revision.ts';
import { DaemonSet } from '../../src/kinds/groups/apps/daemon-set.ts';
import { ReplicaSet } from '../../src/kinds/groups/apps/replica-set.ts';
import { StatefulSet } from '../../src/kinds/groups/apps/stateful-set.ts';
import { Job } from '../../src/kinds/groups/batch/job.ts';
import { ConfigMap } from '../../src/kinds/groups/core/configuration/config-map.ts';
import { Secret } from '../../src/kinds/groups/core/configuration/secret.ts';
import { Namespace } from '../../src/kinds/groups/core/namespace.ts';
import { Node } from '../../src/kinds/groups/core/node/node.ts';
import { Pod } from '../../src/kinds/groups/core/pod/pod.ts';
import type { ResourceQuota } from '../../src/kinds/groups/core/quota/resource-quota.ts';
import { Endpoints } from '../../src/kinds/groups/core/service/endpoints.ts';
import { Service } from '../../src/kinds/groups/core/service/service.ts';
import { ServiceAccount } from '../../src/kinds/groups/core/service-account.ts';
import { PodDisruptionBudget } from '../../src/kinds/groups/policy/pod-disruption-budget.ts';
import { atOnce, NEVER_SPENT } from '../support/divided-work.ts';
import { planEndpointSlices, planEndpoints, planMirroring } from '../support/endpoint-planners.ts';
import { PlannerWorld } from '../support/planner-world.ts';
import { growsLinearly } from './growth.ts';

const NOW = new Date('2030-01-01T01:00:00Z');
const namespace = 'x';
const labels = { app: 'a' };
const selector = { matchLabels: labels };
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };

const listOf = <T>(length: number, of: (index: number) => T): T[] => Array.from({ length }, (_, index) => of(index));
const READY = { type: 'Ready', status: 'True', lastTransitionTime: '2030-01-01T00:00:00Z' };
const reference = (kind: string, uid: string) => ({ apiVersion: 'apps/v1', kind, name: uid, uid, controller: true });

interface PodFields {
  readonly metadata?: object;
  readonly spec?: object;
  readonly status?: object;
}

/** Adds running pods to the world. */
function addPods(world: PlannerWorld, count: number, fieldsOf: (index: number) => PodFields = () => ({})): void {
  for (let at = 0; at < count; at++) {
    const { metadata, spec, status } = fieldsOf(at);
    world.put(Pod, {
      metadata: {
        name: `p-${at}`,
        uid: `p-${at}`,
        namespace,
        labels,
        creationTimestamp: '2030-01-01T00:00:00Z',
        ...metadata,
      },
      spec: { nodeName: `n-${at % 50}`, containers: [{ name: 'c', image: 'i', resources: {} }], ...spec },
      status: {
        phase: 'Running',
        conditions: [READY],
        podIPs: [{ ip: `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}` }],
        ...status,
      },
    });
  }
}

const addNodes = (world: PlannerWorld, count: number) => {
  for (let at = 0; at < count; at++) world.put(Node, { metadata: { name: `n-${at}` }, spec: {}, status: {} });
};

const key = { namespace, name: 'o' };
const owner = (fields: object) => ({ metadata: { ...key, uid: 'o', generation: 1 }, status: {}, ...fields });
const service = (ports: readonly object[]) => ({
  metadata: { ...key, uid: 'o', creationTimestamp: '2030-01-01T00:00:00Z' },
  spec: { selector: labels, clusterIP: '10.0.0.1', ports },
});
const port = (at: number) => ({ name: `p${at}`, port: at + 1, protocol: 'TCP' });

describe('workloads', () => {
  growsLinearly({
    'a ReplicaSet that owns pods': [
      2000,
      (items) => {
        const world = new PlannerWorld();
        addPods(world, items, () => ({ metadata: { ownerReferences: [reference('ReplicaSet', 'o')] } }));
        const set = world.put(ReplicaSet, owner({ spec: { replicas: items / 2, selector, template } }));
        return () => planReplicaSet(set, { of: world.of, observed: true, failures: [] }, NOW);
      },
    ],
    'a ReplicaSet that adopts pods': [
      2000,
      (items) => {
        const world = new PlannerWorld();
        addPods(world, items);
        const set = world.put(ReplicaSet, owner({ spec: { replicas: items, selector, template } }));
        return () => planReplicaSet(set, { of: world.of, observed: true, failures: [] }, NOW);
      },
    ],
    'a StatefulSet that owns pods, with claims': [
      1000,
      (items) => {
        const world = new PlannerWorld();
        addPods(world, items, (at) => ({
          metadata: { name: `o-${at}`, ownerReferences: [reference('StatefulSet', 'o')] },
        }));
        const spec = {
          ...{ replicas: items * 1000, selector, template, podManagementPolicy: 'Parallel' },
          updateStrategy: { type: 'RollingUpdate' },
          volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: {} }],
        };
        const set = world.put(StatefulSet, owner({ spec }));
        const view = { of: world.of, observed: { pods: true, revisions: true } };
        return () => planStatefulSet(set, view as never, NOW);
      },
    ],
    'a DaemonSet on nodes with pods': [
      1000,
      (items) => {
        const world = new PlannerWorld();
        addNodes(world, items);
        addPods(world, items, (at) => ({
          metadata: { ownerReferences: [reference('DaemonSet', 'o')] },
          spec: { nodeName: `n-${at}` },
        }));
        const spec = {
          selector,
          template,
          updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
        };
        const set = world.put(DaemonSet, owner({ spec }));
        const view = { of: world.of, observed: { pods: true, revisions: true }, failures: [] };
        return () => planDaemonSet(set, view as never, { now: NOW.getTime(), backoff: { wait: () => 0 } });
      },
    ],
    'a DaemonSet with revisions': [
      500,
      (items) => {
        const world = new PlannerWorld();
        for (let at = 0; at < items; at++) {
          const metadata = { name: `r-${at}`, namespace, labels, ownerReferences: [reference('DaemonSet', 'o')] };
          world.put(ControllerRevision, { metadata, revision: at, data: { spec: { template: { at } } } });
        }
        const spec = { selector, template, updateStrategy: { type: 'OnDelete' }, revisionHistoryLimit: 2 ** 31 - 1 };
        const set = world.put(DaemonSet, owner({ spec }));
        const view = { of: world.of, observed: { pods: true, revisions: true }, failures: [] };
        return () => planDaemonSet(set, view as never, { now: NOW.getTime(), backoff: { wait: () => 0 } });
      },
    ],
    'an indexed Job of the largest size with pods': [
      1000,
      (items) => {
        const world = new PlannerWorld();
        addPods(world, items, (at) => ({
          metadata: {
            ownerReferences: [{ ...reference('Job', 'o'), apiVersion: 'batch/v1' }],
            finalizers: ['batch.kubernetes.io/job-tracking'],
            annotations: { 'batch.kubernetes.io/job-completion-index': String(at * 2) },
          },
          status: { phase: at % 3 === 0 ? 'Succeeded' : 'Running' },
        }));
        const spec = {
          ...{ selector, template, completionMode: 'Indexed', backoffLimit: 6 },
          ...{ completions: 2 ** 31 - 1, parallelism: 2 ** 31 - 1, backoffLimitPerIndex: 2 ** 31 - 1 },
        };
        const completedIndexes = listOf(items, (at) => at * 4 + 100_001).join(',');
        const job = world.put(Job, { ...owner({ spec }), status: { completedIndexes } });
        const view = {
          of: world.of,
          key,
          observed: { mayAdopt: false, failures: { count: 0, last: 0 } },
          failures: [],
        };
        return () => planJob(job, view as never, NOW);
      },
    ],
    'a Job that adopts pods which were tracked before': [
      1000,
      (items) => {
        const world = new PlannerWorld();
        addPods(world, items, () => ({
          metadata: {
            finalizers: ['batch.kubernetes.io/job-tracking'],
            labels: { ...labels, 'batch.kubernetes.io/job-name': 'o' },
          },
        }));
        const job = world.put(Job, owner({ spec: { selector, template, completions: 5, parallelism: 5 } }));
        const view = { of: world.of, key, observed: { mayAdopt: true, failures: { count: 0, last: 0 } }, failures: [] };
        return () => planJob(job, view as never, NOW);
      },
    ],
  });
});

describe('endpoints', () => {
  const withService = (pods: number, ports: readonly object[], fieldsOf?: (index: number) => PodFields) => {
    const world = new PlannerWorld();
    addNodes(world, 50);
    addPods(world, pods, fieldsOf);
    return { made: world.put(Service, service(ports)), view: { of: world.of, key }, world };
  };
  growsLinearly({
    'of pods': [
      500,
      (items) => {
        const { made, view } = withService(items, [port(1)]);
        return () => [planEndpoints(made, view), planEndpointSlices(made, view)];
      },
    ],
    'of a service with many ports': [
      1000,
      (items) => {
        const { made, view } = withService(300, listOf(items, port));
        return () => [planEndpoints(made, view), planEndpointSlices(made, view)];
      },
    ],
    'of a service whose ports are named by many containers': [
      500,
      (items) => {
        const ports = listOf(items, (at) => ({ ...port(at), targetPort: `p${at}` }));
        const containers = listOf(items, (at) => ({
          ports: [{ name: `p${at}`, containerPort: at + 1, protocol: 'TCP' }],
        }));
        const { made, view } = withService(10, ports, () => ({ spec: { containers } }));
        return () => [planEndpoints(made, view), planEndpointSlices(made, view)];
      },
    ],
    'in slices that are all to be replaced': [
      2000,
      (items) => {
        const { made, view, world } = withService(items, [port(1)]);
        world.apply(planEndpointSlices(made, view));
        const other = world.put(Service, service([port(2)]));
        return () => planEndpointSlices(other, view);
      },
    ],
    'that a client wrote, of many addresses and ports': [
      1000,
      (items) => {
        const { world, view } = withService(0, []);
        world.put(Service, { metadata: key, spec: { clusterIP: '10.0.0.1', ports: [] } });
        const addresses = listOf(items * 4, (at) => ({ ip: `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}` }));
        const endpoints = world.put(Endpoints, {
          metadata: { ...key, uid: 'e' },
          subsets: [{ addresses, ports: listOf(items, port) }],
        });
        return () => planMirroring(endpoints, view);
      },
    ],
  });
});

describe('the garbage collector', () => {
  const node = (uid: string, owners: readonly object[], fields: Partial<GraphNode> = {}): GraphNode => ({
    ...nodeOf(ConfigMap, { metadata: { name: uid, uid, namespace, ownerReferences: owners } } as never),
    ...fields,
  });
  const block = (uid: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: uid, uid, blockOwnerDeletion: true });
  const waiting = { isDeleted: true, finalizers: ['foregroundDeletion'] };
  growsLinearly({
    'an object with many owners, which change': [
      2000,
      (items) => {
        const graph = new OwnerGraph();
        graph.put(
          node(
            'a',
            listOf(items, (at) => block(`o${at}`)),
          ),
        );
        return () =>
          graph.put(
            node(
              'a',
              listOf(items, (at) => block(`o${at + 1}`)),
            ),
          );
      },
    ],
    'a chain of objects that wait for each other': [
      500,
      (items) => {
        const graph = new OwnerGraph();
        for (let at = 0; at < items; at++) graph.put(node(`${at}`, [block(`${at + 1}`)], waiting));
        graph.put(node(`${items}`, [block('0')], waiting));
        return () => listOf(20, (at) => graph.isBlocked(`${at}`));
      },
    ],
    'an object that waits for many dependents which wait for it': [
      1000,
      (items) => {
        const graph = new OwnerGraph();
        const dependents = listOf(items, (at) => `d${at}`);
        graph.put(node('a', dependents.map(block), waiting));
        for (const uid of dependents) graph.put(node(uid, [block('a')], waiting));
        return () => graph.isBlocked('a');
      },
    ],
    'an object whose dependents are orphaned': [
      2000,
      (items) => {
        const made = node('a', [], { isDeleted: true, finalizers: ['orphan'] });
        const dependents = listOf(items, (at) => node(`d${at}`, [block('a'), block('b')]));
        return () => planCollection({ node: made, owners: [], dependents, isBlocked: false });
      },
    ],
  });
});

describe('policies', () => {
  growsLinearly({
    'a quota that limits many resources': [
      2000,
      (items) => {
        const hard = Object.fromEntries(listOf(items, (at) => [`requests.example.com/r${at}`, '5']));
        const quota = { metadata: key, spec: { hard }, status: {} } as unknown as ResourceQuota;
        const observed = [{ kind: Pod, objects: [], resourceVersion: '1' }];
        return () => atOnce(planResourceQuota(quota, { observed: observed as never, pace: NEVER_SPENT }, NOW));
      },
    ],
    'a quota of many pods': [
      1000,
      (items) => {
        const world = new PlannerWorld();
        addPods(world, items, () => ({ metadata: { deletionTimestamp: '2030-01-01T02:00:00Z' } }));
        const quota = {
          metadata: key,
          spec: { hard: { pods: '5', cpu: '5' } },
          status: {},
        } as unknown as ResourceQuota;
        const observed = [{ kind: Pod, objects: world.of(Pod).list(), resourceVersion: '1' }];
        return () => atOnce(planResourceQuota(quota, { observed: observed as never, pace: NEVER_SPENT }, NOW));
      },
    ],
    'a budget for many pods': [
      2000,
      (items) => {
        const world = new PlannerWorld();
        addPods(world, items, (at) => ({ metadata: { ownerReferences: [reference('ReplicaSet', `rs-${at}`)] } }));
        for (let at = 0; at < items; at++) {
          world.put(ReplicaSet, { metadata: { name: `rs-${at}`, uid: `rs-${at}`, namespace }, spec: { replicas: 1 } });
        }
        const budget = world.put(PodDisruptionBudget, owner({ spec: { selector, maxUnavailable: '50%' } }));
        return () => planDisruption(budget, { of: world.of, observed: new Map() }, NOW);
      },
    ],
  });
});

describe('nodes, namespaces and identities', () => {
  growsLinearly({
    'a pod with many tolerations on a node with many taints': [
      2000,
      (items) => {
        const world = new PlannerWorld();
        const taints = listOf(items, (at) => ({ key: `k${at}`, value: 'v', effect: 'NoExecute' }));
        world.put(Node, { metadata: { name: 'n-0' }, spec: { taints } });
        const tolerations = listOf(items, (at) => ({ key: `k${at}`, value: 'v', tolerationSeconds: 10 }));
        addPods(world, 1, () => ({ spec: { tolerations } }));
        const view = { of: world.of, key: { namespace, name: 'p-0' }, observed: { since: undefined } };
        return () => planTaintEviction(undefined, view, NOW);
      },
    ],
    'a namespace with many objects, each with a finalizer of its own': [
      2000,
      (items) => {
        const metadata = { name: 'o', deletionTimestamp: '2030-01-01T00:00:00Z' };
        const made = { metadata, spec: { finalizers: ['kubernetes'] }, status: {} } as unknown as Namespace;
        const objects = listOf(items, (at) => ({
          metadata: { name: `c${at}`, finalizers: [`example.com/${at}`], deletionTimestamp: '2030-01-01T00:00:00Z' },
        }));
        const observed = { contents: [{ kind: ConfigMap, objects, resourceVersion: '1' }], unlisted: [] };
        return () => planNamespace(made, { observed: observed as never, failures: [] }, NOW);
      },
    ],
    'an account that lists many token Secrets': [
      1000,
      (items) => {
        const world = new PlannerWorld();
        const made = world.put(Namespace, { metadata: { name: namespace } });
        const names = listOf(items, (at) => `default-token-${at}`);
        world.put(ServiceAccount, {
          metadata: { name: 'default', namespace, uid: 'sa' },
          secrets: names.map((name) => ({ name })),
        });
        for (const name of names) {
          const annotations = {
            'kubernetes.io/service-account.name': 'default',
            'kubernetes.io/service-account.uid': 'sa',
          };
          world.put(Secret, {
            metadata: { name, namespace, annotations },
            type: 'kubernetes.io/service-account-token',
            data: { token: 'dA==' },
          });
        }
        const observed = { tokens: new Map(), abandoned: new Set<string>() };
        return () => planServiceAccounts(made, { of: world.of, observed }, 'ca');
      },
    ],
    'a role that aggregates many rules': [
      500,
      (items) => {
        const world = new PlannerWorld();
        const rules = (from: string) =>
          listOf(items, (at) => ({ apiGroups: [from], resources: [`r${at}`], verbs: ['get'] }));
        for (const name of ['b', 'c', 'd']) world.put(ClusterRole, { metadata: { name, labels }, rules: rules(name) });
        const role = world.put(ClusterRole, {
          metadata: { name: 'a' },
          aggregationRule: { clusterRoleSelectors: [selector] },
          rules: [],
        });
        return () => planClusterRoleAggregation(role, world);
      },
    ],
    'a role with many selectors of many roles': [
      250,
      (items) => {
        const world = new PlannerWorld();
        for (let at = 0; at < 100; at++) {
          world.put(ClusterRole, {
            metadata: { name: `r${at}`, labels },
            rules: listOf(20, (rule) => ({ verbs: [`${at} ${rule}`] })),
          });
        }
        const clusterRoleSelectors = listOf(items, () => selector);
        const role = world.put(ClusterRole, {
          metadata: { name: 'a' },
          aggregationRule: { clusterRoleSelectors },
          rules: [],
        });
        return () => planClusterRoleAggregation(role, world);
      },
    ],
  });
});
