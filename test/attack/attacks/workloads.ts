import { setTimeout as wait } from 'node:timers/promises';
import type { Attack } from '../attack.ts';
import type { HttpClient } from '../client.ts';

const LARGEST = 2_147_483_647;
const labels = { app: 'largest' };
const selector = { matchLabels: labels };
const containers = [{ name: 'main', image: 'busybox:1.36' }];
const template = { metadata: { labels }, spec: { containers } };
const jobTemplate = { spec: { containers, restartPolicy: 'Never' } };
const SETTLE_MS = 1_500;
const namespace = 'namespaces/tenant';

const listOf = <T>(length: number, of: (index: number) => T): T[] => Array.from({ length }, (_, index) => of(index));

/** Creates an object, gives the controllers time to act on it, and deletes it with its pods. */
async function inflict(
  client: HttpClient,
  path: string,
  object: { name: string; [field: string]: unknown },
): Promise<void> {
  const { name, metadata, ...fields } = object;
  const body = { metadata: { name, ...(metadata as object) }, ...fields };
  await client.send('POST', path, { body });
  await wait(SETTLE_MS);
  await client.send('DELETE', `${path}/${name}`, { body: { propagationPolicy: 'Background', gracePeriodSeconds: 0 } });
}

/** Workloads of the largest size: a plan must not list their pods, and pods that fit nowhere must not fill the store. */
export const largestWorkloads: Attack = {
  name: 'largest workloads',
  async run({ tenant }) {
    const apps = `/apis/apps/v1/${namespace}`;
    const batch = `/apis/batch/v1/${namespace}`;
    const limits = { minReadySeconds: LARGEST - 1, progressDeadlineSeconds: LARGEST, revisionHistoryLimit: LARGEST };
    const spec = { replicas: LARGEST, selector, template };
    await inflict(tenant, `${apps}/replicasets`, { name: 'largest', spec });
    await inflict(tenant, `${apps}/deployments`, { name: 'largest', spec: { ...spec, ...limits } });
    const controller = { replicas: LARGEST, selector: labels, template };
    await inflict(tenant, `/api/v1/${namespace}/replicationcontrollers`, { name: 'largest', spec: controller });
    const numbers = {
      parallelism: LARGEST,
      completions: LARGEST,
      backoffLimit: LARGEST,
      activeDeadlineSeconds: LARGEST,
    };
    await inflict(tenant, `${batch}/jobs`, { name: 'largest', spec: { ...numbers, template: jobTemplate } });
    const indexed = { ...numbers, parallelism: 10_000, completionMode: 'Indexed', backoffLimitPerIndex: LARGEST };
    await inflict(tenant, `${batch}/jobs`, { name: 'indexed', spec: { ...indexed, template: jobTemplate } });
    await tenant.send('DELETE', `/api/v1/${namespace}/pods?gracePeriodSeconds=0`);
  },
};

/** Sends annotations for simulated nodes to a pod: durations and names without end. */
export const simulationAnnotations: Attack = {
  name: 'simulation annotations',
  async run({ tenant }) {
    const path = `/api/v1/${namespace}/pods`;
    const texts = [
      '1ms..99999999999999h',
      `${'9'.repeat(400)}h`,
      '0..9007199254740993ms',
      '{"takes":"1ms..9999999999h"}',
    ];
    for (const [index, text] of texts.entries()) {
      const stages = ['sandbox', 'pull', 'ready', 'run', 'stop', 'liveness', 'readiness'];
      const annotations = Object.fromEntries(stages.map((stage) => [`simulated.kubernetes.io/${stage}`, text]));
      await inflict(tenant, path, { name: `odd-${index}`, metadata: { annotations }, spec: { containers } });
    }
  },
};

/** Lists that meet other lists: taints and tolerations, terms and pods, owners and dependents, addresses and ports. */
export const listsTimesLists: Attack = {
  name: 'lists times lists',
  async run({ admin, tenant }) {
    const taints = listOf(5_000, (at) => ({ key: `k${at}`, value: 'v', effect: 'NoExecute' }));
    await admin.send('POST', '/api/v1/nodes', { body: { metadata: { name: 'tainted' }, spec: { taints } } });
    const tolerations = listOf(5_000, (at) => ({
      key: `k${at}`,
      value: 'v',
      effect: 'NoExecute',
      tolerationSeconds: 10,
    }));
    const pods = `/api/v1/${namespace}/pods`;
    await inflict(tenant, pods, { name: 'tolerant', spec: { containers, tolerations, nodeName: 'tainted' } });
    await inflict(tenant, pods, { name: 'undecided', spec: { containers, tolerations } });
    const terms = listOf(9_000, (at) => ({
      topologyKey: 'kubernetes.io/hostname',
      labelSelector: { matchExpressions: [{ key: 'app', operator: 'NotIn', values: [`v${at}`] }] },
    }));
    const affinity = { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } };
    await inflict(tenant, `/apis/apps/v1/${namespace}/replicasets`, {
      name: 'near-everything',
      spec: { replicas: 50, selector, template: { ...template, spec: { containers, affinity } } },
    });
    const configMaps = `/api/v1/${namespace}/configmaps`;
    const owners = listOf(5_000, (at) => ({
      ...{ apiVersion: 'v1', kind: 'ConfigMap', name: `o${at}`, uid: `00000000-0000-0000-0000-${at}` },
      blockOwnerDeletion: false,
    }));
    await inflict(tenant, configMaps, { name: 'owned', metadata: { ownerReferences: owners } });
    const addresses = listOf(9_000, (at) => ({ ip: `10.1.${at >> 8}.${at & 255}` }));
    const ports = listOf(9_000, (at) => ({ name: `p${at}`, port: at + 1 }));
    const services = `/api/v1/${namespace}/services`;
    await tenant.send('POST', services, { body: { metadata: { name: 'mirrored' }, spec: { ports: [{ port: 80 }] } } });
    // The role `admin` may not write Endpoints.
    await inflict(admin, `/api/v1/${namespace}/endpoints`, { name: 'mirrored', subsets: [{ addresses, ports }] });
    await tenant.send('DELETE', `${services}/mirrored`);
    await admin.send('DELETE', '/api/v1/nodes/tainted');
  },
};
