import { afterEach, expect, test } from 'vitest';
import { type TestServer, testServer } from '../../../../test/support/server.ts';
import { silent } from '../../../base/log.ts';
import { ControlledClock } from '../../../base/time/clock.ts';
import { allKinds } from '../../../kinds/all.ts';
import { MemoryStore } from '../../../store/memory/memory-store.ts';
import { Cache } from '../../objects/cache/cache.ts';
import { priority } from '../../operations/admission/plugins/pods/priority.ts';
import { runCheck } from '../http/documents/health.ts';
import { serverChecks } from './server-checks.ts';

let api: TestServer;
afterEach(() => api?.server.close());

const startServer = () =>
  testServer(allKinds, {
    ...{ admission: [priority], authorization: ['RBAC'], defaultRoles: true, aggregation: true },
    flowControl: { priorityAndFairness: true, maxReading: 400, maxMutating: 200, requestTimeoutMs: 60_000 },
    advertise: { address: '192.0.2.1', port: 6443 },
  });

const FRONT_PROXY = { authority: 'a', clientAuthority: 'b', certificate: 'c', key: 'd', others: undefined };

/** Runs checks, and returns their messages. */
async function said(checks: Parameters<typeof runCheck>[1]): Promise<ReadonlyMap<string, string>> {
  const answers = checks.map(async ({ name }) => [name, (await runCheck(name, checks)).text] as const);
  return new Map(await Promise.all(answers));
}

const FAILED = 'internal server error: ';
const failing = (answers: ReadonlyMap<string, string>) =>
  Object.fromEntries([...answers].filter(([, text]) => text !== 'ok').map(([name, text]) => [name, text.trim()]));

test('all checks pass when the server has started, and knows its identity', async () => {
  api = await startServer();
  const { server } = api;
  expect(failing(await said(server.checks))).toEqual({
    'poststarthook/start-cluster-authentication-info-controller': `${FAILED}configmaps/extension-apiserver-authentication is missing`,
    'poststarthook/apiservice-openapi-controller': `${FAILED}the server cannot identify itself to other API servers`,
  });
  await server.renewFrontProxy(FRONT_PROXY as never);
  await expect.poll(async () => failing(await said(server.checks))).toEqual({});
  expect(server.checks.map(({ name }) => name)).toEqual([
    'informer-sync',
    'poststarthook/start-apiserver-admission-initializer',
    'poststarthook/generic-apiserver-start-informers',
    'poststarthook/priority-and-fairness-config-producer',
    'poststarthook/start-apiextensions-informers',
    'poststarthook/start-apiextensions-controllers',
    'poststarthook/crd-informer-synced',
    'poststarthook/storage-readiness',
    'poststarthook/bootstrap-controller',
    'poststarthook/start-system-namespaces-controller',
    'poststarthook/start-service-ip-repair-controllers',
    'poststarthook/rbac/bootstrap-roles',
    'poststarthook/scheduling/bootstrap-system-priority-classes',
    'poststarthook/start-cluster-authentication-info-controller',
    'poststarthook/start-kube-aggregator-informers',
    'poststarthook/apiservice-registration-controller',
    'poststarthook/apiservice-status-local-available-controller',
    'poststarthook/apiservice-status-remote-available-controller',
    'poststarthook/kube-apiserver-autoregistration',
    'poststarthook/apiservice-openapi-controller',
    'autoregister-completion',
  ]);
});

test('each check fails while its subject is missing', async () => {
  const clock = new ControlledClock();
  const store = new MemoryStore({ clock });
  const options = { historyMilliseconds: 60_000, historyBytes: 1_000_000, freeze: true };
  const cache = new Cache({ ...options, store, clock, log: silent, marks: undefined });
  const informers = 'the cache does not follow the store';
  const checks = serverChecks({
    ...{ cache, namespaces: ['kube-system'], serviceAddress: '10.96.0.1' },
    ...{ hasPriorities: true, hasDefaultRoles: true, hasFairness: true },
    customKinds: { isRunning: false, unfollowed: ['boats.example.com'] } as never,
    aggregation: {
      local: { isRunning: false, missing: ['v1.apps'] },
      others: { isIdentified: false, withoutStatus: ['v1.batch'], unfollowed: ['v1.metrics'] },
    } as never,
  });
  const hook = (name: string) => `poststarthook/${name}`;
  const found = failing(await said(checks));
  expect(found).toMatchObject({
    'informer-sync': `${FAILED}${informers}`,
    [hook('generic-apiserver-start-informers')]: `${FAILED}${informers}`,
    [hook('start-apiextensions-informers')]: `${FAILED}${informers}`,
    [hook('start-kube-aggregator-informers')]: `${FAILED}${informers}`,
    [hook('storage-readiness')]: `${FAILED}${informers}`,
    [hook('start-apiextensions-controllers')]: `${FAILED}custom kinds are not followed`,
    [hook('crd-informer-synced')]: `${FAILED}boats.example.com`,
    [hook('bootstrap-controller')]: `${FAILED}services/kubernetes is missing, endpoints/kubernetes is missing`,
    [hook('start-system-namespaces-controller')]: `${FAILED}namespaces/kube-system is missing`,
    [hook('start-service-ip-repair-controllers')]:
      `${FAILED}servicecidrs/kubernetes is missing, ipaddresses/10.96.0.1 is missing`,
    [hook('rbac/bootstrap-roles')]:
      `${FAILED}clusterroles/cluster-admin is missing, clusterrolebindings/cluster-admin is missing`,
    [hook('scheduling/bootstrap-system-priority-classes')]:
      `${FAILED}priorityclasses/system-cluster-critical is missing, priorityclasses/system-node-critical is missing`,
    [hook('priority-and-fairness-config-producer')]: expect.stringContaining('flowschemas/exempt is missing'),
    [hook('apiservice-registration-controller')]: `${FAILED}APIServices are not kept`,
    [hook('apiservice-status-local-available-controller')]: `${FAILED}v1.batch`,
    [hook('apiservice-status-remote-available-controller')]: `${FAILED}v1.metrics`,
    [hook('kube-apiserver-autoregistration')]: `${FAILED}v1.apps`,
    'autoregister-completion': `${FAILED}v1.apps`,
  });
  const admission = hook('start-apiserver-admission-initializer');
  expect(checks.map(({ name }) => name).filter((name) => !(name in found))).toEqual([admission]);
  const key = '/registry/admissionregistration.k8s.io/validatingwebhookconfigurations/broken';
  await store.commit([{ key, value: Buffer.from('{"apiVersion":') }]);
  await cache.start();
  expect(failing(await said(checks))).toMatchObject({
    [admission]: `${FAILED}validatingwebhookconfigurations/broken cannot be read`,
  });
  expect((await said(checks)).get('informer-sync')).toBe('ok');
  cache.close();
});
