/**
 * Attacks with one list of a kind made as long as a body allows: nothing quadratic may walk it before its length is
 * checked.
 */
import type { Attack } from '../attack.ts';
import { LARGE_BODY_BYTES } from '../client.ts';

interface LongList {
  readonly path: string;
  /** The object with a list of `item`s in its place. */
  readonly object: (items: unknown[]) => object;
  readonly item: unknown | ((i: number) => unknown);
}

const container = { name: 'main', image: 'busybox:1.36' };
const pod = (more: object) => ({ metadata: { name: 'long' }, spec: { containers: [container], ...more } });
const inContainer = (more: object) => ({
  metadata: { name: 'long' },
  spec: { containers: [{ ...container, ...more }] },
});
const PODS = '/api/v1/namespaces/tenant/pods';
const SERVICES = '/api/v1/namespaces/tenant/services';

const LISTS: readonly LongList[] = [
  {
    path: PODS,
    item: (i: number) => ({ name: `c${i}`, resourceClaimName: 'x' }),
    object: (resourceClaims) => pod({ resourceClaims }),
  },
  { path: PODS, item: { key: 'a', operator: 'Exists' }, object: (tolerations) => pod({ tolerations }) },
  { path: PODS, item: { name: 'x' }, object: (imagePullSecrets) => pod({ imagePullSecrets }) },
  { path: PODS, item: (i: number) => ({ name: `v${i}`, emptyDir: {} }), object: (volumes) => pod({ volumes }) },
  { path: PODS, item: { ip: '10.0.0.1', hostnames: ['a'] }, object: (hostAliases) => pod({ hostAliases }) },
  { path: PODS, item: (i: number) => ({ name: `g${i}` }), object: (schedulingGates) => pod({ schedulingGates }) },
  {
    path: PODS,
    item: { maxSkew: 1, topologyKey: 'a', whenUnsatisfiable: 'DoNotSchedule' },
    object: (topologySpreadConstraints) => pod({ topologySpreadConstraints }),
  },
  { path: PODS, item: (i: number) => ({ name: `E${i}`, value: '$(E1)' }), object: (env) => inContainer({ env }) },
  { path: PODS, item: (i: number) => ({ containerPort: (i % 65_535) + 1 }), object: (ports) => inContainer({ ports }) },
  {
    path: PODS,
    item: (i: number) => ({ name: 'v', mountPath: `/m${i}` }),
    object: (volumeMounts) => inContainer({ volumeMounts }),
  },
  {
    path: PODS,
    item: { resourceName: 'cpu', restartPolicy: 'NotRequired' },
    object: (resizePolicy) => inContainer({ resizePolicy }),
  },
  { path: PODS, item: { type: 'Ready' }, object: (readinessGates) => pod({ readinessGates }) },
  {
    path: SERVICES,
    item: 'IPv4',
    object: (ipFamilies) => ({ metadata: { name: 'long' }, spec: { ports: [{ port: 80 }], ipFamilies } }),
  },
  {
    path: SERVICES,
    item: '10.0.0.1',
    object: (externalIPs) => ({ metadata: { name: 'long' }, spec: { ports: [{ port: 80 }], externalIPs } }),
  },
  {
    path: SERVICES,
    item: '10.0.0.0/8',
    object: (loadBalancerSourceRanges) => ({
      metadata: { name: 'long' },
      spec: { ports: [{ port: 80 }], loadBalancerSourceRanges },
    }),
  },
  {
    path: '/apis/certificates.k8s.io/v1/certificatesigningrequests',
    item: 'client auth',
    object: (usages) => ({
      metadata: { name: 'long' },
      spec: { usages, request: 'YQ==', signerName: 'example.com/a' },
    }),
  },
  {
    path: '/apis/storage.k8s.io/v1/csinodes',
    item: 'a.example/b',
    object: (topologyKeys) => ({
      metadata: { name: 'long' },
      spec: { drivers: [{ name: 'd', nodeID: 'n', topologyKeys }] },
    }),
  },
  {
    path: '/apis/resource.k8s.io/v1/resourceslices',
    item: 'a.example/b',
    object: (bindingConditions) => ({
      metadata: { name: 'long' },
      spec: {
        driver: 'd',
        nodeName: 'n',
        pool: { name: 'p', resourceSliceCount: 1 },
        devices: [{ name: 'd', bindingConditions }],
      },
    }),
  },
  {
    path: '/api/v1/namespaces/tenant/resourcequotas',
    item: 'BestEffort',
    object: (scopes) => ({ metadata: { name: 'long' }, spec: { scopes } }),
  },
  {
    path: '/apis/networking.k8s.io/v1/namespaces/tenant/networkpolicies',
    item: 'Ingress',
    object: (policyTypes) => ({ metadata: { name: 'long' }, spec: { podSelector: {}, policyTypes } }),
  },
  {
    path: '/api/v1/namespaces/tenant/endpoints',
    item: (i: number) => ({ ip: `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}` }),
    object: (addresses) => ({ metadata: { name: 'long' }, subsets: [{ addresses, ports: [{ port: 1 }] }] }),
  },
  {
    path: '/api/v1/namespaces/tenant/configmaps',
    item: 'a/b',
    object: (finalizers) => ({ metadata: { name: 'long', finalizers } }),
  },
  {
    path: '/api/v1/namespaces/tenant/configmaps',
    item: (i: number) => ({ apiVersion: 'v1', kind: 'Pod', name: `p${i}`, uid: `u${i}` }),
    object: (ownerReferences) => ({ metadata: { name: 'long', ownerReferences } }),
  },
];

export const longLists: Attack = {
  name: 'long lists',
  async run({ admin }) {
    for (const { path, object, item } of LISTS) {
      const make = typeof item === 'function' ? (item as (i: number) => unknown) : () => item;
      const size = JSON.stringify(make(10_000)).length + 1;
      const items = Array.from({ length: Math.floor(LARGE_BODY_BYTES / size) }, (_, i) => make(i));
      await admin.send('POST', path, { body: object(items) });
      await admin.send('DELETE', `${path}/long?gracePeriodSeconds=0`);
      await admin.send('PATCH', `${path}/long`, {
        body: { metadata: { finalizers: null } },
        type: 'application/merge-patch+json',
      });
    }
  },
};
