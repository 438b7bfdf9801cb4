/** Tests Services of real pods: they are reached from pods and from the host, and follow readiness. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { newDirectory, type Qd, runQd, startQd } from '../program.ts';

export interface RuntimeWithServices {
  readonly runtime: 'containerd' | 'process';
  /** An image with busybox. */
  readonly image: string;
  readonly clusterCidr: string;
  readonly serviceRange: string;
  /** A command in the image that succeeds when it reaches the API server at this address. */
  readonly connect: (address: string) => string;
  /** Puts the image onto a node. `directory` is that of the node. */
  prepare?(directory: string): Promise<void>;
  /** Why it cannot be tested here. */
  readonly skip: string | undefined;
}

const NAMESPACE = '/api/v1/namespaces/default';
const TIMEOUT_MS = 90_000;
const NODES = ['quarterdeck-node-1', 'quarterdeck-node-2'];

/** Answers with the name of the pod and the address of the client. */
const SERVER = [
  'mkdir -p /tmp/www/cgi-bin',
  'printf \'#!/bin/sh\\nprintf "Content-Type: text/plain\\\\r\\\\n\\\\r\\\\n$NAME $REMOTE_ADDR\\\\n"\\n\' > /tmp/www/cgi-bin/who',
  'chmod +x /tmp/www/cgi-bin/who',
  'exec busybox httpd -f -p 8080 -h /tmp/www',
].join('\n');

export function servicesOfRealPods(site: RuntimeWithServices): void {
  const { runtime, image, clusterCidr, serviceRange, connect, prepare, skip } = site;
  if (skip) console.log(`skipped: ${skip}`);
  describe.skipIf(skip !== undefined)(`services on ${runtime}`, () => {
    let qd: Qd;
    let directory: string;
    const start = () => {
      const ranges = ['--cluster-cidr', clusterCidr, '--service-cluster-ip-range', serviceRange];
      return startQd({ directory, flags: ['--nodes', '2', '--runtime', runtime, ...ranges] });
    };
    const post = (plural: string, body: object) => qd.request('POST', `${NAMESPACE}/${plural}`, { body });
    const env = [{ name: 'NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }];
    const serve = (name: string, nodeName: string, more: object = {}) =>
      post('pods', {
        metadata: { name, labels: { app: 'web' } },
        spec: {
          nodeName,
          terminationGracePeriodSeconds: 0,
          containers: [{ name: 'c', image, env, command: ['sh', '-c', SERVER], ...more }],
        },
      });
    const untilReady = (name: string) =>
      qd.until(`${NAMESPACE}/pods`, ({ metadata, status }) => metadata.name === name && isReady(status));
    /** Runs a command in a pod of its own, and resolves with what it printed. */
    const inPod = async (name: string, nodeName: string, command: string, more: object = {}) => {
      await post('pods', {
        metadata: { name },
        spec: {
          nodeName,
          restartPolicy: 'Never',
          containers: [{ name: 'c', image, command: ['sh', '-c', command] }],
          ...more,
        },
      });
      const pod = await qd.until(
        `${NAMESPACE}/pods`,
        ({ metadata, status }) => metadata.name === name && ['Succeeded', 'Failed'].includes(status.phase),
      );
      const output = (await qd.request('GET', `${NAMESPACE}/pods/${name}/log`)).text;
      return { output, address: pod.status.podIP as string };
    };
    // A static busybox cannot use wget in an image without the files of the C library.
    const askMany = (address: string, times: number, port = 80) =>
      `for i in $(seq ${times}); do printf 'GET /cgi-bin/who HTTP/1.0\\r\\n\\r\\n' | busybox nc -w 5 ${address} ${port} | tail -n 1; done`;
    const names = (output: string) =>
      [
        ...new Set(
          output
            .trim()
            .split('\n')
            .map((line) => line.split(' ')[0]),
        ),
      ].sort();
    let clusterIP: string;
    let nodePort: number;

    beforeAll(async () => {
      directory = await newDirectory();
      qd = await start();
      for (const node of NODES) {
        await qd.until('/api/v1/nodes', ({ metadata, status }) => metadata.name === node && isReady(status));
        await prepare?.(join(directory, 'data', 'nodes', node));
      }
      const ports = [{ port: 80, targetPort: 'http' }];
      const { body } = await post('services', {
        metadata: { name: 'web' },
        spec: { type: 'NodePort', selector: { app: 'web' }, ports },
      });
      clusterIP = body.spec.clusterIP;
      nodePort = body.spec.ports[0].nodePort;
      const named = { ports: [{ name: 'http', containerPort: 8080 }] };
      await serve('one', NODES[0]!, named);
      await serve('two', NODES[1]!, named);
      await Promise.all(['one', 'two'].map(untilReady));
      await untilSlices(qd, 2);
      await vi.waitFor(() => who(`http://${clusterIP}:80`), 10_000);
    }, TIMEOUT_MS);

    afterAll(async () => {
      try {
        const file = join(directory, 'data', 'nodes', NODES[0]!, 'node.json');
        const { name } = JSON.parse(await readFile(file, 'utf8')) as { name: string };
        const table = `qd-${NODES[0]}-${name.replace(/^qd/, '')}`;
        expect(tables()).toContain(table);
        await qd.stop();
        // Pods go on, and so do their services.
        expect(tables()).toContain(table);
        await runQd(['down', '--data-dir', join(directory, 'data')]);
        expect(tables()).not.toContain(table);
      } finally {
        await qd?.stop('SIGKILL');
        await runQd(['reset', '--yes', '--data-dir', join(directory, 'data')]);
        await rm(directory, { recursive: true, force: true });
      }
    }, TIMEOUT_MS);

    test(
      'the agents of both nodes listen where their nodes say',
      async () => {
        const account = { metadata: { name: 'monitor' } };
        await post('serviceaccounts', account);
        const roles = '/apis/rbac.authorization.k8s.io/v1';
        const rules = [{ apiGroups: [''], resources: ['nodes/metrics'], verbs: ['get'] }];
        await qd.request('POST', `${roles}/clusterroles`, { body: { ...account, rules } });
        await qd.request('POST', `${roles}/clusterrolebindings`, {
          body: {
            ...account,
            roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'monitor' },
            subjects: [{ kind: 'ServiceAccount', name: 'monitor', namespace: 'default' }],
          },
        });
        const { body } = await post('serviceaccounts/monitor/token', { spec: {} });
        const authorization = `Bearer ${body.status.token}`;
        for (const node of NODES) {
          const { status } = (await qd.request('GET', `/api/v1/nodes/${node}`)).body;
          const host = status.addresses.find(({ type }: { type: string }) => type === 'InternalIP').address;
          const port = status.daemonEndpoints.kubeletEndpoint.Port;
          const ask = async (headers: Record<string, string>) => {
            const options = { host, port, path: '/metrics', servername: node, headers, rejectUnauthorized: false };
            const [response] = await once(httpsRequest(options).end(), 'response');
            return { code: response.statusCode, text: Buffer.concat(await response.toArray()).toString() };
          };
          await vi.waitFor(async () => expect((await ask({ authorization })).code).toBe(200), 20_000);
          expect((await ask({ authorization })).text).toContain(`kubelet_node_name{node="${node}"} 1`);
          expect((await ask({})).code).toBe(401);
        }
      },
      TIMEOUT_MS,
    );

    test(
      'pods of both nodes reach pods of both nodes, with their own addresses',
      async () => {
        for (const [index, node] of NODES.entries()) {
          const { output, address } = await inPod(`asks-${index}`, node, askMany(clusterIP, 20));
          expect(names(output)).toEqual(['one', 'two']);
          for (const line of output.trim().split('\n'))
            expect(line).toMatch(new RegExp(` (\\[::ffff:)?${address}\\]?$`));
        }
      },
      TIMEOUT_MS,
    );

    test(
      'pods reach node ports of their own node and of the other one, and through them pods of both',
      async () => {
        const { body } = await qd.request('GET', '/api/v1/nodes');
        const addresses = body.items.map(({ status }: any) => status.addresses[0].address as string);
        for (const [index, node] of NODES.entries()) {
          const command = addresses.map((address: string) => askMany(address, 15, nodePort)).join('; echo; ');
          const { output } = await inPod(`asks-node-ports-${index}`, node, command);
          expect(output.split('\n\n').map(names)).toEqual([
            ['one', 'two'],
            ['one', 'two'],
          ]);
        }
      },
      TIMEOUT_MS,
    );

    test(
      'with externalTrafficPolicy Local, pods see the address of the node that a pod on its network asks from',
      async () => {
        const spec = { type: 'NodePort', selector: { app: 'web' }, externalTrafficPolicy: 'Local' };
        const ports = [{ port: 80, targetPort: 'http' }];
        const { body } = await post('services', { metadata: { name: 'local' }, spec: { ...spec, ports } });
        const [{ nodePort: localPort }] = body.spec.ports;
        const { items } = (await qd.request('GET', '/api/v1/nodes')).body;
        const addressOf = (node: string) =>
          items.find(({ metadata }: any) => metadata.name === node).status.addresses[0].address;
        const [first = '', second = ''] = NODES;
        // The rules of a new service come a moment later.
        for (const node of NODES) await vi.waitFor(() => who(`http://${addressOf(node)}:${localPort}`), 10_000);
        for (const [from, to, answers] of [
          [first, second, 'two'],
          [second, first, 'one'],
        ] as const) {
          const name = `asks-locally-from-${from}`;
          const { output } = await inPod(name, from, askMany(addressOf(to), 1, localPort), { hostNetwork: true });
          expect(output).toMatch(new RegExp(`^${answers} (\\[::ffff:)?${addressOf(from)}\\]?$`, 'm'));
        }
      },
      TIMEOUT_MS,
    );

    test(
      'the host reaches the cluster IP and the node port, on the loopback address too',
      async () => {
        expect(names(await whoMany(`http://${clusterIP}:80`, 30))).toEqual(['one', 'two']);
        expect(names(await whoMany(`http://127.0.0.1:${nodePort}`, 30))).toEqual(['one', 'two']);
      },
      TIMEOUT_MS,
    );

    test(
      'the API server answers at the address of its service, in pods and on the host',
      async () => {
        const { body } = await qd.request('GET', `${NAMESPACE}/services/kubernetes`);
        const address: string = body.spec.clusterIP;
        for (const node of NODES) {
          const { output } = await inPod(`asks-the-server-of-${node}`, node, `${connect(address)} && echo connected`);
          expect(output).toBe('connected\n');
        }
        const { body: issuer } = await qd.request('GET', '/.well-known/openid-configuration');
        const { body: endpoints } = await qd.request('GET', `${NAMESPACE}/endpoints/kubernetes`);
        expect(new URL(issuer.jwks_uri).hostname).toBe(endpoints.subsets[0].addresses[0].ip);
        expect(execFileSync('curl', ['-sk', '-m', '5', `https://${address}/version`], { encoding: 'utf8' })).toContain(
          'gitVersion',
        );
      },
      TIMEOUT_MS,
    );

    test(
      'ports that something on the host listens on stay with it, and the services that want them say so',
      async () => {
        const host = createServer((_, response) => response.end('the host'));
        const hostNodePort = 31_700 + (process.pid % 500);
        const other = createServer((_, response) => response.end('the host'));
        try {
          await once(host.listen(0), 'listening');
          await once(other.listen(hostNodePort), 'listening');
          const { port: taken } = host.address() as AddressInfo;
          const free = taken === 20_443 ? 20_444 : 20_443;
          const selector = { app: 'web' };
          await post('services', {
            metadata: { name: 'balanced' },
            spec: {
              ...{ type: 'LoadBalancer', selector, externalTrafficPolicy: 'Local' },
              ports: [taken, free].map((port) => ({ name: `p${port}`, port, targetPort: 'http' })),
            },
          });
          await post('services', {
            metadata: { name: 'on-nodes' },
            spec: { type: 'NodePort', selector, ports: [{ port: 80, targetPort: 'http', nodePort: hostNodePort }] },
          });
          const settled = (name: string) =>
            qd.until(
              `${NAMESPACE}/services`,
              ({ metadata, status }) =>
                metadata.name === name &&
                status.conditions?.some(({ message }: any) => message.includes(NODES[0])) &&
                (name === 'on-nodes' || status.loadBalancer.ingress?.length === 2),
            );
          const balanced = await settled('balanced');
          const { body } = await qd.request('GET', '/api/v1/nodes');
          const [first, second] = NODES.map(
            (name) => body.items.find(({ metadata }: any) => metadata.name === name).status.addresses[0].address,
          );
          const failed = (ip: string) =>
            balanced.status.loadBalancer.ingress.find((each: any) => each.ip === ip)?.ports;
          expect(failed(first)).toEqual([
            { port: taken, protocol: 'TCP', error: 'PortInUse' },
            { port: free, protocol: 'TCP' },
          ]);
          expect(failed(second)).toBeUndefined();
          expect(balanced.status.conditions[0]).toMatchObject({ type: 'PortInUse', status: 'True' });
          expect(await who(`http://${first}:${taken}`)).toBe('the host');
          // The host itself reaches the pods of all nodes.
          for (const url of [`http://${first}:${free}`, `http://${second}:${taken}`]) {
            // The rules of a new service come a moment after its status.
            const reached = () => who(url);
            expect(['one', 'two']).toContain(names(await vi.waitFor(reached, 10_000))[0]);
          }
          await settled('on-nodes');
          expect(await who(`http://127.0.0.1:${hostNodePort}`)).toBe('the host');
          for (const name of ['balanced', 'on-nodes']) {
            const isAbout = ({ involvedObject, reason }: any) => involvedObject.name === name && reason === 'PortInUse';
            await qd.until(`${NAMESPACE}/events`, isAbout);
          }
          // Each node has a different health check port.
          for (const address of [first, second]) {
            // The endpoints of a new service come a moment later.
            await vi.waitFor(async () => {
              const check = JSON.parse(await who(`http://${address}:${balanced.spec.healthCheckNodePort}`));
              expect(check).toMatchObject({ service: { name: 'balanced' }, localEndpoints: 1 });
            }, 10_000);
          }
        } finally {
          for (const name of ['balanced', 'on-nodes']) await qd.request('DELETE', `${NAMESPACE}/services/${name}`);
          for (const server of [host, other]) server.close().closeAllConnections();
        }
      },
      TIMEOUT_MS,
    );

    test(
      'traffic follows readiness, and rules outlive a killed program until the next start replaces them',
      async () => {
        await qd.request('DELETE', `${NAMESPACE}/pods/two?gracePeriodSeconds=0`);
        await qd.untilGone(`${NAMESPACE}/pods`, 'two');
        await untilSlices(qd, 1);
        // The rules follow the slices a moment later.
        await vi.waitFor(async () => {
          expect(names(await whoMany(`http://${clusterIP}:80`, 20))).toEqual(['one']);
        }, 10_000);
        await qd.stop('SIGKILL');
        expect(names(await who(`http://${clusterIP}:80`))).toEqual(['one']);
        qd = await start();
        await untilReady('one');
        expect(names(await who(`http://${clusterIP}:80`))).toEqual(['one']);
      },
      TIMEOUT_MS,
    );
  });
}

const isReady = (status: any) =>
  status.conditions?.some((each: any) => each.type === 'Ready' && each.status === 'True');

const tables = () => execFileSync('/usr/sbin/nft', ['list', 'tables'], { encoding: 'utf8' });

const SLICES = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';

function untilSlices(qd: Qd, count: number): Promise<unknown> {
  return qd.until(
    SLICES,
    ({ metadata, endpoints }) =>
      metadata.labels['kubernetes.io/service-name'] === 'web' &&
      endpoints.filter(({ conditions }: any) => conditions.ready).length === count,
  );
}

/** Sends requests one after the other: the programs in the pods let only a few connections wait. */
async function whoMany(url: string, count: number): Promise<string> {
  let answers = '';
  for (let i = 0; i < count; i++) answers += await who(url);
  return answers;
}

function who(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request(`${url}/cgi-bin/who`, { agent: false, timeout: 5_000 }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve(text));
    });
    asked.on('error', reject);
    asked.on('timeout', () => asked.destroy(new Error('timeout')));
    asked.end();
  });
}
