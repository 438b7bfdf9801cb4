/** Tests nodes with real pods on their machine, for any runtime: two nodes, the API from inside, and no leftovers. */
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newDirectory, type Qd, runQd, startQd } from '../program.ts';
import { nodeIdsIn, tracesOf } from './traces.ts';

export interface RealMachine {
  readonly runtime: 'containerd' | 'process';
  /** An image with Node. */
  readonly image: string;
  /** Range that no other cluster on this machine has. */
  readonly clusterCidr: string;
  readonly serviceRange: string;
  /** Runs everything as this user. */
  readonly uid?: number;
  /** Puts the image onto the nodes of a data directory. */
  prepare?(dataDirectory: string): Promise<void>;
  readonly skip: string | undefined;
}

const PODS = '/api/v1/namespaces/default/pods';
const TIMEOUT_MS = 120_000;
const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/** Answers with the address of the client. */
const SERVE = "require('http').createServer((q, s) => s.end(q.socket.remoteAddress + '\\n')).listen(8080)";
const asking = (address: string) =>
  `setInterval(() => require('http').get('http://${address}:8080', (r) => r.pipe(process.stdout)).on('error', () => {}), 500)`;
/** Lists pods as programs in pods do, until the server answers: the rules of a new node may come a moment later. */
const LIST = `
  const { readFileSync } = require('fs');
  const read = (name) => readFileSync('${ACCOUNT}/' + name, 'utf8');
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env;
  const path = '/api/v1/namespaces/' + read('namespace') + '/pods';
  const headers = { authorization: 'Bearer ' + read('token') };
  const again = () => setTimeout(list, 200);
  const list = () => require('https').get({ host, port, path, headers, ca: read('ca.crt'), timeout: 2000 }, (response) => {
    let text = '';
    response.on('data', (chunk) => (text += chunk));
    response.on('end', () => console.log(response.statusCode, JSON.parse(text).kind));
  }).on('timeout', function () { this.destroy(); }).on('error', again);
  list();
`;

export function realMachine({ runtime, image, clusterCidr, serviceRange, uid, prepare, skip }: RealMachine): void {
  if (skip) console.log(`skipped: ${skip}`);
  const isRoot = (uid ?? process.getuid?.()) === 0;
  const user = uid === undefined ? {} : { uid };
  describe.skipIf(skip !== undefined)(`a machine with ${runtime}${isRoot ? '' : ', without root'}`, () => {
    let qd: Qd;
    let directory: string;
    const data = () => join(directory, 'data');
    const command = (...args: string[]) =>
      runQd([...args, '--data-dir', data()], { env: { HOME: directory }, ...user });
    const start = (...flags: string[]) => {
      const ranges = ['--cluster-cidr', clusterCidr, '--service-cluster-ip-range', serviceRange];
      return startQd({ directory, flags: ['--nodes', '2', '--runtime', runtime, ...ranges, ...flags], ...user });
    };
    const run = (name: string, node: number, script: string, spec: object = {}) => {
      const container = { name: 'c', image, imagePullPolicy: 'IfNotPresent', command: ['node', '-e', script] };
      const nodeName = `quarterdeck-node-${node}`;
      const body = { metadata: { name }, spec: { nodeName, containers: [container], ...spec } };
      return qd.request('POST', PODS, { body });
    };
    const until = (name: string, condition: (pod: any) => boolean) =>
      qd.until(PODS, (pod) => pod.metadata.name === name && condition(pod));
    const untilNodesReady = async () => {
      for (const node of ['quarterdeck-node-1', 'quarterdeck-node-2']) {
        await qd.until('/api/v1/nodes', ({ metadata, status }) => metadata.name === node && isReady({ status }));
      }
    };
    const firstLine = async (name: string) => {
      await until(name, ({ status }) => status.phase !== 'Pending');
      for await (const line of await qd.lines(`${PODS}/${name}/log?follow=true`)) return line;
      throw new Error(`the log of ${name} ended`);
    };

    beforeAll(async () => {
      directory = await newDirectory();
      await chmod(directory, 0o777);
      await mkdir(join(directory, 'static'));
      await writeFile(
        join(directory, 'static', 'fixed.yaml'),
        `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"fixed"},"spec":{"containers":[{"name":"c","image":"${image}","command":["node","-e","setInterval(() => {}, 1000)"]}]}}`,
      );
      qd = await start(
        ...['--node-labels', 'disk=ssd', '--max-pods', '42', '--system-reserved', 'cpu=100m'],
        ...['--register-with-taints', 'slow:PreferNoSchedule', '--pod-manifest-path', join(directory, 'static')],
      );
      await untilNodesReady();
      await prepare?.(data());
      await qd.request('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
        body: {
          metadata: { name: 'pods-view' },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
          subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: 'default' }],
        },
      });
    }, TIMEOUT_MS);

    afterAll(async () => {
      await qd?.stop('SIGKILL');
      await command('reset', '--yes');
      await rm(directory, { recursive: true, force: true });
    }, TIMEOUT_MS);

    test('nodes are described by flags', async () => {
      const { metadata, spec, status } = (await qd.request('GET', '/api/v1/nodes/quarterdeck-node-2')).body;
      expect(metadata.labels).toMatchObject({ disk: 'ssd' });
      expect(spec.taints).toEqual([{ key: 'slow', effect: 'PreferNoSchedule' }]);
      expect(status.capacity.pods).toBe('42');
      expect(status.allocatable.cpu).not.toBe(status.capacity.cpu);
    });

    test('the agent of each node is reached by the name and port that clients of kubelet use', async () => {
      for (const name of ['quarterdeck-node-1', 'quarterdeck-node-2', 'quarterdeck-node-2:10250']) {
        expect(await qd.request('GET', `/api/v1/nodes/${name}/proxy/healthz`)).toMatchObject({ code: 200, text: 'ok' });
      }
      const { body } = await qd.request('GET', '/api/v1/nodes/quarterdeck-node-1:10250/proxy/pods');
      expect(body.kind).toBe('PodList');
    });

    test(
      'static pods run on each node',
      async () => {
        for (const node of [1, 2])
          await until(`fixed-quarterdeck-node-${node}`, ({ status }) => status.phase === 'Running');
      },
      TIMEOUT_MS,
    );

    // A plain process has no volumes, and so no token.
    test.skipIf(!isRoot)(
      'a program in a pod lists pods with its service account, on each node',
      async () => {
        for (const node of [1, 2]) {
          await run(`lister-${node}`, node, LIST, { restartPolicy: 'Never' });
          expect(await firstLine(`lister-${node}`)).toBe('200 PodList');
        }
      },
      TIMEOUT_MS,
    );

    test.skipIf(!isRoot)(
      'pods of one node reach those of another, and are seen with their own address',
      async () => {
        for (const [from, to] of [
          [1, 2],
          [2, 1],
        ] as const) {
          await run(`server-${to}`, to, SERVE);
          const server = await until(`server-${to}`, isReady);
          await run(`client-${from}`, from, asking(server.status.podIP));
          const client = await until(`client-${from}`, isReady);
          await expect
            .poll(async () => (await qd.request('GET', `${PODS}/client-${from}/log`)).text)
            .toContain(client.status.podIP);
        }
      },
      TIMEOUT_MS,
    );

    test.skipIf(!isRoot)(
      'pods on the network of a node have its name: the first node is the machine, the second has its own',
      async () => {
        const names = [hostname(), 'quarterdeck-node-2'];
        for (const [index, name] of names.entries()) {
          const node = index + 1;
          const script =
            "console.log(os.hostname(), fs.readFileSync('/etc/hostname', 'utf8').trim(), process.env.HOSTNAME)";
          await run(`named-${node}`, node, script, { hostNetwork: true, restartPolicy: 'Never' });
          expect(await firstLine(`named-${node}`)).toBe([name, name, name].join(' '));
        }
      },
      TIMEOUT_MS,
    );

    test(
      'after SIGKILL, all are found again; qd down ends them, and the next start runs them anew',
      async () => {
        await run('kept', 2, `process.on('SIGTERM', () => process.exit(0)); ${SERVE.replace('8080', '8090')}`);
        const before = await until('kept', isReady);
        await qd.stop('SIGKILL');
        qd = await start();
        await untilNodesReady();
        expect((await until('kept', isReady)).status.containerStatuses).toEqual(before.status.containerStatuses);
        await qd.stop('SIGKILL');
        const ids = nodeIdsIn(data());
        expect((await tracesOf(data(), ids)).length).toBeGreaterThan(0);
        expect(await command('down')).toMatchObject({ code: 0, stderr: '' });
        expect(await tracesOf(data(), ids)).toEqual([]);
        const again = await command('down');
        expect(again).toMatchObject({ code: 0, stderr: '' });
        expect(again.stdout).not.toContain('Ended');
        expect(await tracesOf(data(), ids)).toEqual([]);
        qd = await start();
        const after = await until('kept', ({ status }) => status.containerStatuses?.[0].restartCount === 1);
        expect(after.status.containerStatuses[0].lastState.terminated).toMatchObject({ exitCode: 0 });
      },
      TIMEOUT_MS,
    );

    test(
      'qd reset leaves nothing, also after SIGKILL',
      async () => {
        await untilNodesReady();
        await run('left', 2, SERVE.replace('8080', '8091'));
        await until('left', isReady);
        await qd.stop('SIGKILL');
        const ids = nodeIdsIn(data());
        expect(await command('reset', '--yes')).toMatchObject({ code: 0, stderr: '' });
        expect(await tracesOf(data(), ids)).toEqual([]);
      },
      TIMEOUT_MS,
    );
  });
}

const isReady = ({ status }: any) =>
  status.conditions?.some(({ type, status: is }: any) => type === 'Ready' && is === 'True') ?? false;
