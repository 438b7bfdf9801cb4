/**
 * Tests that two servers on one etcd are one cluster: the same authority, the same token keys, both among the
 * endpoints.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { etcdMissing, TestEtcd } from '../support/etcd.ts';
import { hasKubectl, kubectlProgram } from './kubectl.ts';
import { newDirectory, type Qd, runQd, startQd } from './program.ts';

const missing = etcdMissing();
if (missing) console.log(`skipped: ${missing}`);

/** Time in which another server takes over from one that was killed. */
const MOVED_MS = 5000;
/** On a slow machine, it may take as much longer as this many Deployments take that a leader acts on. */
const SLOW_DEPLOYMENTS = 5;
const STORE_TIMEOUT_SECONDS = 5;
/** The goodbye of a server has three seconds; without a limit, it took fifteen. */
const MAX_STOP_SECONDS = 8;
const run = promisify(execFile);
const ACCOUNT = '/api/v1/namespaces/default/serviceaccounts/default';

describe.skipIf(missing)('two servers on one etcd', () => {
  let etcd: TestEtcd;
  let flags: string[];
  let key: string[];
  let a: Qd;
  let b: Qd;

  beforeAll(async () => {
    etcd = await TestEtcd.start();
    flags = ['--store', 'etcd', '--etcd-servers', etcd.endpoint];
    a = await startQd({ flags });
    key = ['--encryption-key-file', join(a.directory, 'data', 'encryption.key')];
    b = await startQd({ flags: [...flags, ...key] });
  });
  afterAll(async () => {
    await Promise.all([a, b].map((qd) => qd?.stop('SIGKILL')));
    await etcd?.remove();
  });

  const pki = (qd: Qd, name: string) => readFile(join(qd.directory, 'data', 'pki', name), 'utf8');
  /**
   * Returns the code that a server answers to a client that trusts the authority of another one, and has its
   * credentials.
   */
  const ask = async (target: Qd, ca: string, credentials: object): Promise<number> => {
    const call = request(`${target.origin}/api/v1/namespaces`, { ca, agent: false, ...credentials });
    call.end();
    const [response] = await once(call, 'response');
    response.resume();
    return response.statusCode;
  };
  const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
  const adminOf = async (qd: Qd) => ({ cert: await pki(qd, 'admin.crt'), key: await pki(qd, 'admin.key') });
  const tokenOf = async (qd: Qd): Promise<string> => {
    // The controllers of one of the servers create the account.
    await expect.poll(async () => (await qd.request('GET', ACCOUNT)).code, { timeout: 20_000 }).toBe(200);
    return (await qd.request('POST', `${ACCOUNT}/token`, { body: { spec: {} } })).body.status.token;
  };
  const ports = async (qd: Qd): Promise<number[]> => {
    const { subsets } = (await qd.request('GET', '/api/v1/namespaces/default/endpoints/kubernetes')).body;
    return subsets.flatMap((subset: any) => subset.ports.map(({ port }: any) => port)).sort();
  };
  const portsOf = (...servers: Qd[]) => servers.map(({ origin }) => Number(new URL(origin).port)).sort();

  test('a custom kind that one of them accepts is served by the other, with its rules', async () => {
    const spec = {
      type: 'object',
      properties: { min: { type: 'integer' }, max: { type: 'integer' } },
      'x-kubernetes-validations': [{ rule: 'self.min <= self.max' }],
    };
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
    const body = {
      metadata: { name: 'ranges.rules.example.com' },
      spec: {
        ...{ group: 'rules.example.com', scope: 'Namespaced', names: { plural: 'ranges', kind: 'Range' } },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    };
    await a.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { body });
    const path = '/apis/rules.example.com/v1/namespaces/default/ranges';
    await expect.poll(async () => (await b.request('GET', path)).code, { timeout: 20_000 }).toBe(200);
    const range = {
      apiVersion: 'rules.example.com/v1',
      kind: 'Range',
      metadata: { name: 'a' },
      spec: { min: 2, max: 1 },
    };
    const rejected = await b.request('POST', path, { body: range });
    expect(rejected.code).toBe(422);
    expect(rejected.body.message).toContain('failed rule: self.min <= self.max');
  });

  test('a client certificate and a token of one are accepted by the other', async () => {
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      const ca = await pki(from, 'ca.crt');
      expect(await ask(to, ca, await adminOf(from))).toBe(200);
      // It is authenticated, and has no right to list namespaces.
      expect(await ask(to, ca, bearer(await tokenOf(from)))).toBe(403);
      expect(await ask(to, ca, bearer(`${await tokenOf(from)}x`))).toBe(401);
    }
  });

  test('both are among the endpoints, and hold a lease', async () => {
    for (const qd of [a, b]) expect(await ports(qd)).toEqual(portsOf(a, b));
    const selector = 'labelSelector=apiserver.kubernetes.io/identity%3Dkube-apiserver';
    const path = `/apis/coordination.k8s.io/v1/namespaces/kube-system/leases?${selector}`;
    expect((await a.request('GET', path)).body.items).toHaveLength(2);
  });

  test('the other one leads, and is the only endpoint, within seconds after the leader was killed', async () => {
    const deployments = '/apis/apps/v1/namespaces/default/deployments';
    const replicaSets = '/apis/apps/v1/namespaces/default/replicasets';
    const lease = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager';
    const { spec: before } = (await b.request('GET', lease)).body;
    /** Creates a Deployment, and resolves when a leader has acted on it. */
    const acted = async (app: string) => {
      const labels = { app };
      const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'c' }] } };
      const body = { metadata: { name: app }, spec: { selector: { matchLabels: labels }, template } };
      expect((await b.request('POST', deployments, { body })).code).toBe(200);
      await b.until(replicaSets, ({ metadata }) => metadata.labels?.app === app);
    };
    const startedAt = Date.now();
    await acted('before-kill');
    const maxMs = MOVED_MS + SLOW_DEPLOYMENTS * (Date.now() - startedAt);
    const exited = once(a.child, 'exit');
    const killedAt = Date.now();
    a.child.kill('SIGKILL');
    const gone = b.until('/api/v1/namespaces/default/endpoints', ({ metadata, subsets = [] }) => {
      const listed = subsets.flatMap((subset: any) => subset.ports.map(({ port }: any) => port));
      return metadata.name === 'kubernetes' && listed.join() === portsOf(b).join();
    });
    const after = async (done: Promise<unknown>) => {
      await done;
      return Date.now() - killedAt;
    };
    const [goneMs, actedMs] = await Promise.all([after(gone), after(acted('after-kill'))]);
    const { spec: since } = (await b.request('GET', lease)).body;
    expect(since.leaseTransitions).toBe(before.leaseTransitions + 1);
    expect(Date.parse(since.acquireTime) - killedAt).toBeLessThan(maxMs);
    expect(goneMs).toBeLessThan(maxMs);
    expect(actedMs).toBeLessThan(maxMs);
    await exited;
    a = await startQd({ directory: a.directory, flags });
    await expect.poll(() => ports(b)).toEqual(portsOf(a, b));
  });

  test('the keys are not readable in etcd', async () => {
    const { openEtcdStore } = await import('../../src/store/index.ts');
    const { systemClock } = await import('../../src/base/time/clock.ts');
    const store = await openEtcdStore({ endpoints: [etcd.endpoint], clock: systemClock });
    const row = await store.get('/quarterdeck/cluster-keys');
    await store.close();
    expect(row?.value.length).toBeGreaterThan(500);
    expect(row?.value.toString('latin1')).not.toContain('PRIVATE KEY');
  });

  test('a rotation reaches both while they run', async () => {
    const [oldCa, oldAdmin, oldToken] = [await pki(b, 'ca.crt'), await adminOf(b), await tokenOf(b)];
    const data = ['--data-dir', join(a.directory, 'data')];
    const rotated = await runQd(['certs', 'rotate', 'authority', 'service-account-key', ...data]);
    expect(rotated).toMatchObject({ code: 0, stderr: '' });
    const keyIdOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()).kid;
    for (const qd of [a, b]) {
      await expect.poll(async () => keyIdOf(await tokenOf(qd))).not.toBe(keyIdOf(oldToken));
      await expect.poll(() => issuerOf(qd)).toMatch(/quarterdeck-ca@\d+/);
    }
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      expect(await ask(to, oldCa, oldAdmin)).toBe(200);
      expect(await ask(to, oldCa, bearer(oldToken))).toBe(403);
      const ca = await pki(from, 'ca.crt');
      expect(ca).toContain(oldCa);
      expect(await ask(to, ca, await adminOf(from))).toBe(200);
      expect(await ask(to, ca, bearer(await tokenOf(from)))).toBe(403);
    }
    expect(await runQd(['certs', 'forget', '--yes', ...data])).toMatchObject({ code: 0, stderr: '' });
    for (const qd of [a, b]) {
      const ca = await pki(a, 'ca.crt');
      await expect.poll(() => ask(qd, ca, bearer(oldToken))).toBe(401);
      expect(await ask(qd, ca, await adminOf(a))).toBe(200);
    }
  });

  const issuerOf = async (qd: Qd): Promise<string> => {
    const { hostname: host, port } = new URL(qd.origin);
    const socket = connect({ host, port: Number(port), rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    const { issuer } = socket.getPeerX509Certificate()!;
    socket.destroy();
    return issuer;
  };

  test('a third one without the encryption key does not start, and leaves no key of its own', async () => {
    const directory = await newDirectory();
    const where = ['--data-dir', join(directory, 'data'), '--port', '0', '--kubeconfig', join(directory, 'kubeconfig')];
    const { code, stderr } = await runQd(['up', ...where, ...flags]);
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^qd: the keys of the cluster in this store are encrypted with [0-9a-f]{8}, which is not in/,
    );
    expect(await readdir(directory)).toEqual([]);
  });

  test('a server with other ranges is rejected, and one with another name adopts those of the cluster', async () => {
    const directory = await newDirectory();
    const where = ['--data-dir', join(directory, 'data'), '--port', '0', '--kubeconfig', join(directory, 'kubeconfig')];
    const differing = ['--service-cluster-ip-range', '10.99.0.0/16', '--cluster-domain', 'other.example'];
    const { code, stderr } = await runQd(['up', ...where, ...flags, ...key, ...differing]);
    expect(code).toBe(1);
    expect(stderr).toContain('--service-cluster-ip-range is 10.96.0.0/16 in the cluster, and 10.99.0.0/16 here');
    expect(stderr).toContain('--cluster-domain is cluster.local in the cluster, and other.example here');
    expect(await readdir(directory)).toEqual([]);
    const other = await startQd({ flags: [...flags, ...key, '--name', 'other'] });
    try {
      const remembered = JSON.parse(await readFile(join(other.directory, 'data', 'cluster.json'), 'utf8'));
      expect(remembered).toMatchObject({ serviceClusterIpRange: '10.96.0.0/16' });
    } finally {
      await other.stop();
    }
  });

  test.skipIf(!hasKubectl)('clients learn soon that etcd does not answer, and readiness follows it', async () => {
    const get = async () => {
      const startedAt = performance.now();
      const flags = ['--kubeconfig', b.kubeconfig, '--server', b.origin, 'get', 'namespaces'];
      const failure = await run(kubectlProgram, flags).catch((error) => error);
      return { text: failure.stderr, seconds: (performance.now() - startedAt) / 1000 };
    };
    const readiness = async () => (await b.request('GET', '/readyz')).text;
    expect((await get()).text).toBe('');
    await etcd.pause();
    const [silent, checks] = await Promise.all([get(), readiness()]);
    expect(checks).toContain('[-]etcd failed');
    await etcd.kill();
    const dead = await get();
    for (const { text, seconds } of [silent, dead]) {
      expect(text).toContain('the store cannot be reached: etcd did not answer within 5000 ms');
      expect(seconds).toBeLessThan(STORE_TIMEOUT_SECONDS + 2);
    }
    await etcd.start();
    await expect.poll(readiness, { timeout: 5_000 }).toBe('ok');
    expect((await get()).text).toBe('');
  });

  test('one that stops while etcd is silent does not wait for it', async () => {
    const c = await startQd({
      flags: [...flags, '--encryption-key-file', join(a.directory, 'data', 'encryption.key')],
    });
    await etcd.pause();
    const startedAt = performance.now();
    try {
      expect(await c.stop()).toBe(0);
      expect((performance.now() - startedAt) / 1000).toBeLessThan(MAX_STOP_SECONDS);
    } finally {
      etcd.resume();
      await c.stop('SIGKILL');
    }
    await expect.poll(async () => (await b.request('GET', '/readyz')).text, { timeout: 20_000 }).toBe('ok');
    await expect.poll(() => ports(a), { timeout: 20_000 }).toEqual(portsOf(a, b));
  });

  test('one that stops cleanly is gone from the endpoints at once', async () => {
    expect(await b.stop()).toBe(0);
    expect(await ports(a)).toEqual(portsOf(a));
  });

  test('the only key of what is in etcd is not removed unasked', async () => {
    const data = join(a.directory, 'data');
    const { code, stderr } = await runQd(['reset', '--yes', '--data-dir', data]);
    expect(code).toBe(1);
    expect(stderr).toContain(
      `${join(data, 'encryption.key')} decrypts what this cluster has in etcd (${etcd.endpoint})`,
    );
    expect(stderr).toContain('--delete-encryption-key');
    expect((await a.request('GET', '/version')).code).toBe(200);
    await writeFile(join(a.directory, 'copy'), await readFile(join(data, 'encryption.key')), { mode: 0o600 });
    const copied = ['--encryption-key-file', join(a.directory, 'copy')];
    expect(await runQd(['reset', '--yes', '--delete-encryption-key', '--data-dir', data])).toMatchObject({ code: 0 });
    const again = await startQd({ flags: [...flags, ...copied] });
    expect((await again.request('GET', ACCOUNT)).code).toBe(200);
    await again.stop();
  });
});
