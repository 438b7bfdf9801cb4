/** Tests the warnings of Kubernetes when an object is written, with its wording. */
import { describe, expect, it } from 'vitest';
import { allKinds } from '../../src/kinds/all.ts';
import { testServer } from '../support/server.ts';

const api = await testServer(allKinds);

const container = { name: 'c', image: 'i' };
const pod = (spec: object, annotations?: object) => ({
  metadata: { annotations },
  spec: { containers: [container], ...spec },
});
const withContainer = (more: object) => pod({ containers: [{ ...container, ...more }] });

let count = 0;
async function warningsOf(
  plural: string,
  apiVersion: string,
  body: any,
  subresource?: string,
): Promise<readonly string[]> {
  const name = body.metadata?.name ?? `x${count++}`;
  const { warnings } = await api.notes(subresource ? 'update' : 'create', plural, {
    apiVersion,
    name: subresource ? name : undefined,
    subresource: subresource === 'object' ? undefined : subresource,
    namespace: namespaced(plural) ? 'default' : undefined,
    body: { ...body, metadata: { name, ...body.metadata } },
  });
  return warnings ?? [];
}

const namespaced = (plural: string) => allKinds.find((kind) => kind.plural === plural)?.scope === 'Namespaced';

describe('a pod', () => {
  it.each<[what: string, body: any, warnings: string[]]>([
    ['in order', pod({}), []],
    [
      'with a name that is no hostname',
      { ...pod({}), metadata: { name: 'a.b' } },
      [
        "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]",
      ],
    ],
    [
      'that selects nodes by an old label',
      pod({ nodeSelector: { 'beta.kubernetes.io/os': 'linux' } }),
      ['spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead'],
    ],
    [
      'that spreads over nothing',
      pod({
        topologySpreadConstraints: [
          { maxSkew: 1, topologyKey: 'failure-domain.beta.kubernetes.io/zone', whenUnsatisfiable: 'DoNotSchedule' },
        ],
      }),
      [
        'spec.topologySpreadConstraints[0].topologyKey: failure-domain.beta.kubernetes.io/zone is deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
        'spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod',
      ],
    ],
    [
      'with an annotation of old',
      pod({}, { 'scheduler.alpha.kubernetes.io/critical-pod': '' }),
      [
        'metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in v1.16+; use the "priorityClassName" field instead',
      ],
    ],
    [
      'with a volume that nothing mounts any more',
      pod({ volumes: [{ name: 'v', rbd: { monitors: ['m'], image: 'i' } }] }),
      ['spec.volumes[0].rbd: deprecated in v1.28, non-functional in v1.31+'],
    ],
    [
      'whose files stand in each other’s way',
      pod({
        serviceAccountName: 'default',
        volumes: [
          {
            name: 'v',
            configMap: {
              name: 'm',
              items: [
                { key: 'a', path: 'x' },
                { key: 'b', path: 'x/y' },
              ],
            },
          },
          {
            name: 'w',
            projected: {
              sources: [
                { secret: { name: 's', items: [{ key: 'k', path: 'token' }] } },
                { serviceAccountToken: { path: 'token' } },
              ],
            },
          },
        ],
      }),
      [
        'volume "v" (ConfigMap "m"): overlapping paths: "x/y" with "x"',
        'volume "w" (Projected): overlapping paths: "token" (ServiceAccountToken) with "token" (Secret "s")',
      ],
    ],
    [
      'with twins',
      pod({
        hostAliases: [{ ip: '1.2.3.4' }, { ip: '1.2.3.4' }],
        imagePullSecrets: [{ name: 'a' }, { name: 'a' }, {}],
      }),
      [
        'spec.hostAliases[1].ip: duplicate ip "1.2.3.4"',
        'spec.imagePullSecrets[1].name: duplicate name "a"',
        'spec.imagePullSecrets[2].name: invalid empty name ""',
      ],
    ],
    [
      'that asks for parts of a byte',
      withContainer({ resources: { limits: { memory: '1500m' }, requests: { memory: '500m' } } }),
      [
        'spec.containers[0].resources.limits[memory]: fractional byte value "1500m" is invalid, must be an integer',
        'spec.containers[0].resources.requests[memory]: fractional byte value "500m" is invalid, must be an integer',
      ],
    ],
    [
      'whose variables hide each other',
      withContainer({
        env: [
          { name: 'A', value: '1' },
          { name: 'A', value: '2' },
          { name: 'A', value: '$(A)3' },
        ],
      }),
      ['spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply'],
    ],
    [
      'whose ports collide',
      pod({
        containers: [
          { ...container, ports: [{ name: 'http', containerPort: 80 }] },
          {
            ...container,
            name: 'd',
            ports: [
              { name: 'http', containerPort: 80 },
              { containerPort: 80, hostPort: 8080 },
            ],
          },
        ],
      }),
      [
        'spec.containers[1].ports[0]: duplicate port definition with spec.containers[0].ports[0]',
        'spec.containers[1].ports[1]: overlapping port definition with spec.containers[0].ports[0]',
        'spec.containers[1].ports[1]: overlapping port definition with spec.containers[1].ports[0]',
        'spec.containers[1].ports[0]: duplicate port name "http" with spec.containers[0].ports[0], services and probes that select ports by name will use spec.containers[0].ports[0]',
      ],
    ],
    [
      'with an affinity to nothing',
      pod({
        affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'k' }] } },
      }),
      [
        'spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector: a null labelSelector results in matching no pod',
      ],
    ],
    [
      'with an odd address',
      pod({ dnsPolicy: 'None', dnsConfig: { nameservers: ['2001:DB8::1'] } }),
      [
        'spec.dnsConfig.nameservers[0]: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")',
      ],
    ],
  ])('%s', async (_what, body, warnings) => {
    expect(await warningsOf('pods', 'v1', body)).toEqual(warnings);
  });

  it('with more ports than anybody wants to hear of', async () => {
    const ports = Array.from({ length: 10_000 }, (_, index) => ({ containerPort: 1 + (index % 500) }));
    const warnings = await warningsOf('pods', 'v1', withContainer({ ports }));
    expect(warnings.length).toBeLessThan(1_000);
  });

  it('is looked at once: when it is new', async () => {
    const body = { ...pod({ nodeSelector: { 'beta.kubernetes.io/os': 'linux' } }), metadata: { name: 'again' } };
    expect(await warningsOf('pods', 'v1', body)).toHaveLength(1);
    expect(await warningsOf('pods', 'v1', body, 'object')).toEqual([]);
  });
});

describe('what makes pods', () => {
  const selector = { matchLabels: { a: 'b' } };
  const template = (label: string) => ({
    metadata: { labels: { a: 'b' } },
    spec: { containers: [container], nodeSelector: { [label]: 'x' } },
  });
  const old = 'beta.kubernetes.io/arch';

  it('is warned of with its path, when it is new and when it changes', async () => {
    const at = `spec.template.spec.nodeSelector[${old}]: deprecated since v1.14; use "kubernetes.io/arch" instead`;
    const named =
      'metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]';
    const body = { metadata: { name: 'a.b' }, spec: { selector, template: template(old) } };
    expect(await warningsOf('deployments', 'apps/v1', body)).toEqual([named, at]);
    expect(await warningsOf('deployments', 'apps/v1', body, 'object')).toEqual([]);
    const more = { ...body, spec: { ...body.spec, replicas: 3 } };
    expect(await warningsOf('deployments', 'apps/v1', more, 'object')).toEqual([at]);
    expect(await warningsOf('daemonsets', 'apps/v1', { ...body, metadata: {} })).toEqual([at]);
  });

  it('in jobs and in what makes them', async () => {
    const { metadata: _, ...job } = template(old);
    const spec = { template: { ...job, spec: { ...job.spec, restartPolicy: 'Never' } } };
    const words = `[${old}]: deprecated since v1.14; use "kubernetes.io/arch" instead`;
    expect(await warningsOf('jobs', 'batch/v1', { spec })).toEqual([`spec.template.spec.nodeSelector${words}`]);
    const cron = { spec: { schedule: '* * * * *', jobTemplate: { spec } } };
    expect(await warningsOf('cronjobs', 'batch/v1', cron)).toEqual([
      `spec.jobTemplate.spec.template.spec.nodeSelector${words}`,
    ]);
  });
});

describe('a delete of a job', () => {
  it.each([
    [{}, 1],
    [{ propagationPolicy: 'Orphan' }, 0],
    [{ propagationPolicy: 'Background' }, 0],
    [{ orphanDependents: true }, 0],
  ])('with %j tells what becomes of its pods', async (options, told) => {
    const spec = { template: { spec: { containers: [container], restartPolicy: 'Never' } } };
    await api.create('jobs', { metadata: { name: 'gone' }, spec }, { apiVersion: 'batch/v1' });
    const { warnings = [] } = await api.notes('delete', 'jobs', { apiVersion: 'batch/v1', name: 'gone', options });
    expect(warnings).toHaveLength(told);
    if (told) expect(warnings[0]).toMatch(/^child pods are preserved by default/);
  });
});

describe('other kinds', () => {
  const port = { port: 80 };
  it.each<[what: string, plural: string, apiVersion: string, body: any, warnings: string[]]>([
    [
      'a headless service with more than that',
      'services',
      'v1',
      { spec: { clusterIP: 'None', externalIPs: ['1.2.3.4'], sessionAffinity: 'ClientIP', ports: [port] } },
      ['spec.externalIPs is ignored for headless services', 'spec.SessionAffinity is ignored for headless services'],
    ],
    [
      'a service with addresses of its own',
      'services',
      'v1',
      {
        spec: {
          externalIPs: ['1.2.3.4'],
          externalName: 'example.com',
          ports: [port],
          trafficDistribution: 'PreferClose',
        },
      },
      [
        'spec.externalIPs is deprecated and may no longer be implemented in some clusters',
        'spec.externalName is ignored when spec.type is not "ExternalName"',
        'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
      ],
    ],
    [
      'endpoints',
      'endpoints',
      'v1',
      { subsets: [{ addresses: [{ ip: '2001:db8:0::1' }], ports: [port] }] },
      [
        'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
        'subsets[0].addresses[0].ip: IPv6 address "2001:db8:0::1" should be in RFC 5952 canonical format ("2001:db8::1")',
      ],
    ],
    [
      'a slice of names',
      'endpointslices',
      'discovery.k8s.io/v1',
      { addressType: 'FQDN', endpoints: [{ addresses: ['example.com'] }] },
      ['spec.addressType: FQDN endpoints are deprecated'],
    ],
    [
      'an ingress with the annotation of old',
      'ingresses',
      'networking.k8s.io/v1',
      {
        metadata: { annotations: { 'kubernetes.io/ingress.class': 'nginx' } },
        spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } } },
      },
      ['annotation "kubernetes.io/ingress.class" is deprecated, please use \'spec.ingressClassName\' instead'],
    ],
    [
      'a claim of parts of a byte',
      'persistentvolumeclaims',
      'v1',
      { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1500m' } } } },
      ['spec.resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer'],
    ],
    [
      'a volume that is recycled',
      'persistentvolumes',
      'v1',
      {
        spec: {
          capacity: { storage: '1Gi' },
          accessModes: ['ReadWriteOnce'],
          persistentVolumeReclaimPolicy: 'Recycle',
          nfs: { server: 's', path: '/p' },
        },
      },
      [
        'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
      ],
    ],
    [
      'a node with an old field',
      'nodes',
      'v1',
      { spec: { externalID: 'x' } },
      ['spec.externalID: this field is deprecated, and is unused by Kubernetes'],
    ],
    [
      'a class of runtime on old labels',
      'runtimeclasses',
      'node.k8s.io/v1',
      { handler: 'h', scheduling: { nodeSelector: { 'beta.kubernetes.io/os': 'linux' } } },
      ['scheduling.nodeSelector: deprecated since v1.14; use "kubernetes.io/os" instead'],
    ],
    [
      'a class of storage on old labels',
      'storageclasses',
      'storage.k8s.io/v1',
      {
        provisioner: 'p',
        allowedTopologies: [
          { matchLabelExpressions: [{ key: 'failure-domain.beta.kubernetes.io/zone', values: ['z'] }] },
        ],
      },
      [
        'allowedTopologies[0].matchLabelExpressions[0].key: deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
      ],
    ],
    [
      'a driver whose tokens are seen',
      'csidrivers',
      'storage.k8s.io/v1',
      { spec: { tokenRequests: [{ audience: 'a' }] } },
      [
        'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes',
      ],
    ],
    [
      'a quota of more requests than limits',
      'resourcequotas',
      'v1',
      { spec: { hard: { cpu: '2', 'limits.cpu': '1' } } },
      ['ResourceQuota cpu (2) should be less than limits.cpu (1)'],
    ],
    [
      'a policy for a range in an odd form',
      'networkpolicies',
      'networking.k8s.io/v1',
      { spec: { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: '2001:DB8::/32' } }] }] } },
      [
        'spec.ingress[0].from[0].ipBlock.cidr: IPv6 CIDR value "2001:DB8::/32" should be in RFC 5952 canonical format ("2001:db8::/32")',
      ],
    ],
    [
      'an account with the annotation of old',
      'serviceaccounts',
      'v1',
      { metadata: { annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } } },
      [
        'metadata.annotations[kubernetes.io/enforce-mountable-secrets]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets',
      ],
    ],
    [
      'a certificate that is none',
      'secrets',
      'v1',
      { type: 'kubernetes.io/tls', stringData: { 'tls.crt': 'x', 'tls.key': 'y' } },
      ['tls: failed to find any PEM data in certificate input'],
    ],
  ])('%s', async (_what, plural, apiVersion, body, warnings) => {
    expect(await warningsOf(plural, apiVersion, body)).toEqual(warnings);
  });
});
