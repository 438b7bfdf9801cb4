/** An application on a machine without root: its pods have the address of the node. */
import { chmod, rm } from 'node:fs/promises';
import { get } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { newDirectory, type Qd, runQd, startQd } from '../program.ts';

const NAMESPACE = '/api/v1/namespaces/default';
const NOBODY = 65_534;
const TIMEOUT_MS = 60_000;
const SERVER = "require('http').createServer((_, answer) => answer.end('hello\\n')).listen(+process.env.PORT)";
/** Root takes the part of another user. */
const user: { readonly uid?: number } = process.getuid?.() === 0 ? { uid: NOBODY } : {};

let qd: Qd;
let directory: string;
let ports: { readonly web: number; readonly ingress: number; readonly node: number };

beforeAll(async () => {
  directory = await newDirectory();
  await chmod(directory, 0o777);
  ports = { web: await freePort(), ingress: await freePort(), node: 31_697 };
  const flags = ['--nodes', '1', '--runtime', 'process', '--ingress-http-port', String(ports.ingress)];
  qd = await startQd({ directory, flags: [...flags, '--cluster-cidr', '10.221.0.0/16'], ...user });
}, TIMEOUT_MS);
afterAll(async () => {
  await qd.stop();
  await runQd(['reset', '--yes', '--data-dir', join(directory, 'data')], { env: { HOME: directory }, ...user });
  await rm(directory, { recursive: true, force: true });
}, TIMEOUT_MS);

const podOn = (name: string, port: number) => ({
  metadata: { name, labels: { app: name } },
  spec: {
    terminationGracePeriodSeconds: 0,
    containers: [
      {
        ...{ name: 'c', image: 'host', command: [process.execPath, '-e', SERVER] },
        env: [{ name: 'PORT', value: String(port) }],
        ports: [{ name: 'http', containerPort: port }],
        readinessProbe: { httpGet: { path: '/', port: 'http' }, periodSeconds: 1 },
        resources: { limits: { memory: '256Mi' } },
        securityContext: {
          ...{ allowPrivilegeEscalation: false, runAsNonRoot: true, capabilities: { drop: ['ALL'] } },
        },
      },
    ],
  },
});
const create = (path: string, body: object) => qd.request('POST', path, { body });
const isReady = ({ status }: any) =>
  status.conditions?.some((each: any) => each.type === 'Ready' && each.status === 'True');
const ask = (port: number, host = 'localhost') =>
  new Promise<string>((resolve, reject) => {
    const request = get({ host: '127.0.0.1', port, headers: { host } }, (answer) => resolve(text(answer)));
    request.on('error', reject);
  });

test(
  'a pod with a probe and a limit is reached through its Service, its node port and an Ingress',
  async () => {
    const port = { name: 'http', port: 80, targetPort: 'http', nodePort: ports.node };
    await create(`${NAMESPACE}/services`, {
      metadata: { name: 'web' },
      spec: { type: 'NodePort', selector: { app: 'web' }, ports: [port] },
    });
    const backend = { service: { name: 'web', port: { number: 80 } } };
    await create('/apis/networking.k8s.io/v1/namespaces/default/ingresses', {
      metadata: { name: 'web' },
      spec: { rules: [{ host: 'web.test', http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }] },
    });
    await create(`${NAMESPACE}/pods`, podOn('web', ports.web));
    const pod = await qd.until(`${NAMESPACE}/pods`, (each) => each.metadata.name === 'web' && isReady(each));
    const { items } = (await qd.request('GET', '/api/v1/nodes')).body;
    const { address } = items[0].status.addresses.find(({ type }: any) => type === 'InternalIP');
    expect(pod.status).toMatchObject({ podIP: address, podIPs: [{ ip: address }], hostIP: address });
    const slices = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';
    const { endpoints } = await qd.until(
      slices,
      (each) => each.metadata.generateName === 'web-' && each.endpoints?.[0]?.conditions.ready,
    );
    expect(endpoints[0].addresses).toEqual([address]);
    await expect.poll(() => ask(ports.node).catch(String)).toBe('hello\n');
    await expect.poll(() => ask(ports.ingress, 'web.test').catch(String)).toBe('hello\n');
    for (const path of [`pods/web:${ports.web}`, 'services/web:80'])
      expect((await qd.request('GET', `${NAMESPACE}/${path}/proxy/`)).text).toBe('hello\n');
    // Cgroups may be delegated to the user who runs the tests.
    if (user.uid === undefined) return;
    const ignored = await qd.until(`${NAMESPACE}/events`, ({ reason }) => reason === 'PodFeatureIgnored');
    expect(ignored.message).toMatch(/^limits are not enforced: memory of container c \(no cgroup is delegated/);
  },
  TIMEOUT_MS,
);

test(
  'a pod whose port is taken waits for the other pod, and is rejected for another program',
  async () => {
    const second = podOn('second', ports.web);
    await create(`${NAMESPACE}/pods`, second);
    const scheduled = (each: any) =>
      each.metadata.name === 'second' && each.status.conditions?.find(({ type }: any) => type === 'PodScheduled');
    const waiting = await qd.until(`${NAMESPACE}/pods`, scheduled);
    expect(scheduled(waiting)).toMatchObject({ status: 'False', message: expect.stringContaining('free ports') });
    const api = Number(new URL(qd.origin).port);
    await create(`${NAMESPACE}/pods`, podOn('greedy', api));
    const { message } = await qd.until(
      `${NAMESPACE}/events`,
      ({ reason, involvedObject }) => reason === 'PortInUse' && involvedObject.name === 'greedy',
    );
    expect(message).toBe(`Port TCP/${api} of the node is in use by the API server`);
    await qd.request('DELETE', `${NAMESPACE}/pods/web`);
    await qd.until(`${NAMESPACE}/pods`, (each) => each.metadata.name === 'second' && isReady(each));
  },
  TIMEOUT_MS,
);
