/** The audit log of the built program, as an operator finds it. */
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newDirectory, type Qd, runQd, startQd } from './program.ts';

const SECRETS = '/api/v1/namespaces/default/secrets';
const PODS = '/api/v1/namespaces/watched/pods';

async function events(file: string): Promise<any[]> {
  const lines = (await readFile(file, 'utf8')).split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
}

describe('without a policy', () => {
  let directory: string;
  let qd: Qd;
  let found: any[];
  let text: string;

  beforeAll(async () => {
    directory = await newDirectory();
    qd = await startQd({ directory });
    const data = { password: Buffer.from('hunter2').toString('base64') };
    await qd.request('POST', SECRETS, { body: { metadata: { name: 'mine' }, data } });
    await qd.request('GET', `${SECRETS}/mine`, { headers: { 'audit-id': 'read-by-me' } });
    await qd.request('POST', SECRETS, {
      body: { metadata: { name: 'mine' }, data: { password: 'not base64: swordfish' } },
    });
    await qd.request('GET', '/api/v1/namespaces/default/configmaps');
    const labels = { 'pod-security.kubernetes.io/audit': 'restricted' };
    await qd.request('POST', '/api/v1/namespaces', { body: { metadata: { name: 'watched', labels } } });
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    // The account that pods have by default is made by a controller.
    for (;;) {
      const { code } = await qd.request('POST', PODS, { body: { metadata: { name: 'p' }, spec } });
      if (code === 200) break;
    }
    await qd.stop();
    const file = join(directory, 'data', 'audit', 'audit.log');
    found = await events(file);
    text = await readFile(file, 'utf8');
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  it('says who wrote and who read a secret, and nothing of what is in it', () => {
    const secrets = found.filter(({ objectRef }) => objectRef?.resource === 'secrets');
    expect(secrets.map(({ verb, objectRef, responseStatus }) => [verb, objectRef.name, responseStatus.code])).toEqual([
      ['create', 'mine', 200],
      ['get', 'mine', 200],
      ['create', expect.anything(), 400],
    ]);
    expect(secrets[0].user.groups).toContain('system:masters');
    expect(secrets[1].auditID).toBe('read-by-me');
    for (const word of ['hunter2', Buffer.from('hunter2').toString('base64'), 'swordfish']) {
      expect(text).not.toContain(word);
    }
  });

  it('says nothing of other reads', () => {
    expect(found.filter(({ objectRef }) => objectRef?.resource === 'configmaps')).toEqual([]);
  });

  it('says what a pod does that its namespace only wants noted', () => {
    const pod = found.find(
      ({ objectRef, responseStatus }) => objectRef?.resource === 'pods' && responseStatus.code === 200,
    );
    expect(pod.annotations['pod-security.kubernetes.io/audit-violations']).toMatch(
      /^would violate PodSecurity "restricted:latest"/,
    );
    expect(pod.annotations['authorization.k8s.io/decision']).toBe('allow');
  });

  it('is readable by its owner alone', async () => {
    const folder = join(directory, 'data', 'audit');
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    for (const name of await readdir(folder)) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
  });
});

describe('with flags', () => {
  let directory: string;

  beforeAll(async () => {
    directory = await newDirectory();
    await mkdir(directory, { recursive: true });
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  it('notes what the policy says, where it is told to', async () => {
    const [policy, log] = [join(directory, 'policy.yaml'), join(directory, 'elsewhere.log')];
    const rules = 'rules:\n- level: RequestResponse\n  resources: [{group: "", resources: [configmaps]}]\n';
    await writeFile(policy, `apiVersion: audit.k8s.io/v1\nkind: Policy\n${rules}`);
    const qd = await startQd({ directory, flags: ['--audit-policy-file', policy, '--audit-log-path', log] });
    const maps = '/api/v1/namespaces/default/configmaps';
    await qd.request('POST', maps, { body: { metadata: { name: 'm' }, data: { a: 'b' } } });
    await qd.stop();
    const all = await events(log);
    const id = all.find(({ objectRef }) => objectRef.name === 'm')?.auditID;
    const found = all.filter(({ auditID }) => auditID === id);
    expect(found.map(({ stage }) => stage)).toEqual(['RequestReceived', 'ResponseComplete']);
    expect(found[1]).toMatchObject({
      requestObject: { data: { a: 'b' } },
      responseObject: { metadata: { uid: expect.any(String) } },
    });
  });

  it('notes nothing where there is to be no log', async () => {
    const qd = await startQd({ flags: ['--audit-log-path', ''] });
    await qd.request('POST', SECRETS, { body: { metadata: { name: 'mine' } } });
    expect(await readdir(join(qd.directory, 'data'))).not.toContain('audit');
    await qd.stop();
  });

  it('does not start with a policy that makes no sense', async () => {
    const policy = join(directory, 'wrong.yaml');
    await writeFile(policy, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n- level: Everything\n');
    const where = ['--data-dir', join(directory, 'other'), '--port', '0', '--kubeconfig', join(directory, 'k')];
    const { code, stderr } = await runQd(['up', ...where, '--audit-policy-file', policy]);
    expect(code).toBe(1);
    expect(stderr).toContain('rules[0].level: Unsupported value: "Everything"');
  });
});

describe('a webhook', () => {
  it('gets what the log gets, in batches, with the token of its kubeconfig, and what it did not take is counted', async () => {
    const directory = await newDirectory();
    const received: any[] = [];
    let isAway = true;
    let tries = 0;
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        tries++;
        expect(request.headers.authorization).toBe('Bearer for-the-collector');
        if (!isAway) received.push(...JSON.parse(Buffer.concat(chunks).toString()).items);
        response.writeHead(isAway ? 503 : 200).end();
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const config = join(directory, 'webhook.yaml');
    const { port } = server.address() as AddressInfo;
    await writeFile(
      config,
      JSON.stringify({
        clusters: [{ name: 'c', cluster: { server: `http://127.0.0.1:${port}/events` } }],
        users: [{ name: 'u', user: { token: 'for-the-collector' } }],
        contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'x',
      }),
    );
    const flags = ['--audit-webhook-config-file', config, '--audit-webhook-batch-max-wait', '100ms'];
    const qd = await startQd({ directory, flags: [...flags, '--audit-webhook-initial-backoff', '100ms'] });
    try {
      const create = (name: string) => qd.request('POST', SECRETS, { body: { metadata: { name } } });
      const lost = async () => (await qd.request('GET', '/metrics')).text.match(/plugin="webhook"} (\d+)/)?.[1];
      await create('nobody-heard');
      await expect.poll(lost).not.toBe('0');
      expect(tries).toBeGreaterThanOrEqual(5);
      isAway = false;
      await create('heard');
      await expect.poll(() => received.map(({ objectRef }) => objectRef?.name)).toContain('heard');
      await create('at-the-end');
      await qd.stop();
      const names = (list: any[]) => list.map(({ objectRef }) => objectRef?.name);
      const logged = names(await events(join(directory, 'data', 'audit', 'audit.log')));
      expect(logged.slice(logged.indexOf('heard'))).toEqual(names(received).slice(names(received).indexOf('heard')));
      expect(names(received)).toContain('at-the-end');
    } finally {
      await qd.stop('SIGKILL');
      server.closeAllConnections();
      server.close();
      await rm(directory, { recursive: true, force: true });
    }
  });

  it('that no kubeconfig describes keeps the cluster from starting', async () => {
    const directory = await newDirectory();
    const where = ['--data-dir', join(directory, 'data'), '--port', '0', '--kubeconfig', join(directory, 'kubeconfig')];
    const file = join(directory, 'missing.yaml');
    const { code, stderr } = await runQd(['up', ...where, '--audit-webhook-config-file', file]);
    expect(code).toBe(1);
    expect(stderr).toContain(`qd: --audit-webhook-config-file ${file} cannot be used: `);
    await rm(directory, { recursive: true, force: true });
  });
});
