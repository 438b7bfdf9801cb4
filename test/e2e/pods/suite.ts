/** Tests real pods on any runtime: run, watch, break, inspect, delete, and kill the program in between. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testAuthority } from '../../support/tls.ts';
import { newDirectory, type Qd, runQd, startQd } from '../program.ts';

export interface RealRuntime {
  readonly runtime: 'containerd' | 'process';
  /** An image with a shell and the usual commands. */
  readonly image: string;
  readonly clusterCidr: string;
  /** Puts the image onto the node. `directory` is that of the node. */
  prepare?(directory: string): Promise<void>;
  /** Why it cannot be tested here. */
  readonly skip: string | undefined;
}

const PODS = '/api/v1/namespaces/default/pods';
const READY_MS = 60_000;
const DB = 'db-0.db.default.svc.cluster.local';

export function realPods({ runtime, image, clusterCidr, prepare, skip }: RealRuntime): void {
  if (skip) console.log(`skipped: ${skip}`);
  describe.skipIf(skip !== undefined)(`pods on ${runtime}`, () => {
    let qd: Qd;
    let directory: string;
    const start = () =>
      startQd({
        directory,
        flags: [
          ...['--nodes', '1', '--runtime', runtime, '--cluster-cidr', clusterCidr],
          // Other clusters of this machine have the usual one.
          ...['--service-cluster-ip-range', clusterCidr.replace(/^10\.2/, '10.1')],
        ],
      });
    const nodeReady = () => qd.until('/api/v1/nodes', ({ status }) => status.conditions?.some(isTrue('Ready')));
    const run = (name: string, command: string, spec: object = {}, container: object = {}) =>
      qd.request('POST', PODS, {
        body: {
          metadata: { name },
          spec: { containers: [{ name: 'c', image, command: ['sh', '-c', command], ...container }], ...spec },
        },
      });
    const until = (name: string, condition: (pod: any) => boolean) =>
      qd.until(PODS, (pod) => pod.metadata.name === name && condition(pod));
    const logs = async (name: string, query = '') => (await qd.request('GET', `${PODS}/${name}/log${query}`)).text;

    beforeAll(async () => {
      directory = await newDirectory();
      qd = await start();
      await nodeReady();
      await prepare?.(join(directory, 'data', 'nodes', 'quarterdeck-node-1'));
    }, READY_MS);

    afterAll(async () => {
      await qd?.stop('SIGKILL');
      await runQd(['reset', '--yes', '--data-dir', join(directory, 'data')]);
      await rm(directory, { recursive: true, force: true });
    }, READY_MS);

    test(
      'a pod runs, has an address, writes a log, and is deleted',
      async () => {
        await run('web', 'echo hello; exec sleep 600');
        const { status } = await until('web', isReady);
        expect(status).toMatchObject({ phase: 'Running', containerStatuses: [{ restartCount: 0, ready: true }] });
        expect(status.podIP).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
        expect(status.containerStatuses[0].containerID).toMatch(new RegExp(`^${runtime}://`));
        expect(await logs('web', '?follow=true&limitBytes=6')).toBe('hello\n');
        await qd.request('DELETE', `${PODS}/web?gracePeriodSeconds=0`);
        await qd.untilGone(PODS, 'web');
      },
      READY_MS,
    );

    test(
      'a container that fails is restarted, and its last log is kept',
      async () => {
        await run('bad', 'echo broken; exit 3');
        const { status } = await until('bad', (pod) => waiting(pod) === 'CrashLoopBackOff');
        expect(status.containerStatuses[0].lastState.terminated).toMatchObject({ exitCode: 3, reason: 'Error' });
        expect(status.containerStatuses[0].restartCount).toBeGreaterThan(0);
        expect(await logs('bad', '?previous=true')).toBe('broken\n');
        await qd.request('DELETE', `${PODS}/bad?gracePeriodSeconds=0`);
        await qd.untilGone(PODS, 'bad');
      },
      READY_MS,
    );

    test(
      'init containers, variables and volumes',
      async () => {
        await qd.request('POST', '/api/v1/namespaces/default/configmaps', {
          body: { metadata: { name: 'settings' }, data: { COLOR: 'blue', file: 'content\n' } },
        });
        const { ca } = await testAuthority();
        await qd.request('POST', '/apis/certificates.k8s.io/v1beta1/clustertrustbundles', {
          body: {
            metadata: { name: 'example.com:signer:a', labels: { live: 'yes' } },
            spec: { signerName: 'example.com/signer', trustBundle: ca },
          },
        });
        const anchors = { signerName: 'example.com/signer', labelSelector: { matchLabels: { live: 'yes' } } };
        const volumeMounts = [
          { name: 'shared', mountPath: '/shared' },
          { name: 'settings', mountPath: '/settings' },
          { name: 'anchors', mountPath: '/anchors' },
        ];
        const command = ['sh', '-c', 'echo "from init" > /shared/file'];
        await run(
          'made',
          'cat /shared/file /settings/file /anchors/ca.pem; echo "$COLOR $NAME"',
          {
            restartPolicy: 'Never',
            initContainers: [{ name: 'first', image, command, volumeMounts: volumeMounts.slice(0, 1) }],
            volumes: [
              { name: 'shared', emptyDir: {} },
              { name: 'settings', configMap: { name: 'settings' } },
              { name: 'anchors', projected: { sources: [{ clusterTrustBundle: { ...anchors, path: 'ca.pem' } }] } },
            ],
          },
          {
            volumeMounts,
            env: [
              { name: 'COLOR', valueFrom: { configMapKeyRef: { name: 'settings', key: 'COLOR' } } },
              { name: 'NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
            ],
          },
        );
        await until('made', ({ status }) => status.phase === 'Succeeded');
        expect(await logs('made')).toBe(`from init\ncontent\n${ca}blue made\n`);
      },
      READY_MS,
    );

    test(
      'a probe decides when a pod is ready; its message tells how it ended',
      async () => {
        const readinessProbe = { exec: { command: ['sh', '-c', 'test -e /tmp/ready'] }, periodSeconds: 1 };
        const command = 'rm -f /tmp/ready; sleep 2; touch /tmp/ready; sleep 3; echo why > /dev/termination-log; exit 4';
        await run('probed', command, { restartPolicy: 'Never' }, { readinessProbe });
        await until('probed', (pod) => pod.status.phase === 'Running' && !isReady(pod));
        await until('probed', isReady);
        const { status } = await until('probed', (pod) => pod.status.phase === 'Failed');
        expect(status.containerStatuses[0].state.terminated).toMatchObject({ exitCode: 4, message: 'why\n' });
      },
      READY_MS,
    );

    test(
      'services are found by name, and by variables in containers that start after them',
      async () => {
        // It tries the whole search path, and its exit code is that of the last attempt.
        const resolved = (name: string) => `busybox nslookup -type=a ${name} | grep -A1 "^Name:" | grep -m1 "^Address"`;
        const found = `until ${resolved('web')} > /dev/null; do sleep 0.3; done; echo "host=$WEB_SERVICE_HOST"`;
        await run('early', found, { restartPolicy: 'Never' });
        await until('early', ({ status }) => status.phase === 'Running');
        const services = '/api/v1/namespaces/default/services';
        const ports = [{ name: 'http', port: 80 }];
        const { body: web } = await qd.request('POST', services, {
          body: { metadata: { name: 'web' }, spec: { ports } },
        });
        const headless = { clusterIP: 'None', ports, selector: { app: 'db' } };
        await qd.request('POST', services, { body: { metadata: { name: 'db' }, spec: headless } });
        const containers = [{ name: 'c', image, command: ['sh', '-c', 'exec sleep 600'] }];
        await qd.request('POST', PODS, {
          body: {
            metadata: { name: 'db-0', labels: { app: 'db' } },
            spec: { hostname: 'db-0', subdomain: 'db', containers },
          },
        });
        const db = await until('db-0', isReady);
        const names = ['kubernetes', 'kubernetes.default', 'web', 'web.default.svc.cluster.local'];
        const late = `${found}; until ${resolved(DB)} > /dev/null; do sleep 0.3; done; cat /etc/resolv.conf; `;
        await run('late', late + [...names, DB].map(resolved).join('; '), { restartPolicy: 'Never' });
        await until('early', ({ status }) => status.phase === 'Succeeded');
        expect(await logs('early')).toBe('host=\n');
        await until('late', ({ status }) => status.phase === 'Succeeded');
        const [variable, ...lines] = (await logs('late')).trimEnd().split('\n');
        expect(variable).toBe(`host=${web.spec.clusterIP}`);
        const service = await qd.request('GET', '/api/v1/namespaces/kube-system/services/kube-dns');
        expect(lines).toContain(`nameserver ${service.body.spec.clusterIP}`);
        const metrics = await qd.request(
          'GET',
          '/api/v1/namespaces/kube-system/services/kube-dns:metrics/proxy/metrics',
        );
        expect(metrics.text).toContain('coredns_dns_requests_total{');
        expect(lines.find((line) => line.startsWith('search'))).toMatch(
          /^search default\.svc\.cluster\.local svc\.cluster\.local cluster\.local/,
        );
        const kubernetes = await qd.request('GET', `${services}/kubernetes`);
        const addresses = lines.filter((line) => line.startsWith('Address')).map((line) => line.split(' ').at(-1));
        const own = kubernetes.body.spec.clusterIP;
        expect(addresses).toEqual([own, own, web.spec.clusterIP, web.spec.clusterIP, db.status.podIP]);
      },
      READY_MS,
    );

    test(
      'a pod survives the end of the program, and is found again',
      async () => {
        await run('kept', 'trap "exit 0" TERM; while true; do sleep 0.1; done');
        const before = await until('kept', isReady);
        await qd.stop('SIGKILL');
        qd = await start();
        await nodeReady();
        const after = await until('kept', isReady);
        const [{ containerID, restartCount, state }] = after.status.containerStatuses;
        expect({ containerID, restartCount, state }).toEqual({
          containerID: before.status.containerStatuses[0].containerID,
          restartCount: 0,
          state: before.status.containerStatuses[0].state,
        });
        await qd.request('DELETE', `${PODS}/kept`);
        await qd.untilGone(PODS, 'kept');
      },
      READY_MS,
    );

    test(
      'a pod that was ending when the program was killed ends at once when its grace period becomes zero',
      async () => {
        await run('gone', 'exec sleep 600');
        await until('gone', isReady);
        await qd.request('DELETE', `${PODS}/gone?gracePeriodSeconds=600`);
        await qd.stop('SIGKILL');
        qd = await start();
        await nodeReady();
        await qd.request('DELETE', `${PODS}/gone?gracePeriodSeconds=0`);
        await qd.untilGone(PODS, 'gone');
      },
      READY_MS,
    );
  });
}

const isTrue = (type: string) => (condition: any) => condition.type === type && condition.status === 'True';
const isReady = ({ status }: any) => status.conditions?.some(isTrue('Ready')) ?? false;
const waiting = ({ status }: any) => status.containerStatuses?.[0].state.waiting?.reason;
