/** Rights as people give, take and ask for them: kubectl, the kubeconfig of the admin, and tokens of others. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testAuthority } from '../support/tls.ts';
import { hasKubectl, kubectlProgram } from './kubectl.ts';
import { type Qd, startQd } from './program.ts';

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'qd-rights-'));
  await writeFile(join(home, 'tokens'), 'ann-token,ann,1,dev\n');
});
afterAll(() => rm(home, { recursive: true, force: true }));

describe.skipIf(!hasKubectl)('kubectl', () => {
  let qd: Qd;
  beforeAll(async () => {
    qd = await startQd({ flags: ['--token-auth-file', join(home, 'tokens')] });
  });
  afterAll(() => qd?.stop());

  const run = async (...args: string[]) => {
    const env = { ...process.env, HOME: home, KUBECONFIG: qd.kubeconfig };
    const { stdout } = await promisify(execFile)(kubectlProgram, args, { env });
    return stdout.trim();
  };
  const asAnn = (...args: string[]) =>
    run('--kubeconfig=/dev/null', `--server=${qd.origin}`, '--insecure-skip-tls-verify', '--token=ann-token', ...args);
  /** Runs `auth can-i`, which ends with 1 when the answer is no. */
  const canI = (...args: string[]) => run('auth', 'can-i', ...args).catch(({ stdout }) => stdout.trim());

  test('asks what one may do oneself, and as somebody else', async () => {
    expect(await canI('delete', 'nodes')).toBe('yes');
    expect(await canI('list', 'pods', '--as=ann', '--as-group=dev')).toBe('no');
    expect(await canI('get', '/metrics', '--as=ann')).toBe('no');
    expect(await canI('get', '/version', '--as=ann')).toBe('yes');
    expect(await canI('delete', 'nodes', '--as=ann', '--as-group=system:masters')).toBe('yes');
    const list = await run('auth', 'can-i', '--list');
    expect(list).toMatch(/^\*\.\*\s+\[\]\s+\[\]\s+\[\*\]/m);
    expect(await run('auth', 'can-i', '--list', '--as=ann')).toContain('selfsubjectaccessreviews.authorization.k8s.io');
  });

  test('acts as somebody else for one thing only', async () => {
    await run('create', 'namespace', 'narrow');
    const rules = [
      {
        verbs: ['impersonate:user-info'],
        apiGroups: ['authentication.k8s.io'],
        resources: ['users'],
        resourceNames: ['joe'],
      },
      { verbs: ['impersonate-on:user-info:list'], apiGroups: [''], resources: ['configmaps'] },
    ];
    const role = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'as-joe' },
      rules,
    };
    await writeFile(join(home, 'role.json'), JSON.stringify(role));
    await run('apply', '-f', join(home, 'role.json'));
    await run('create', 'clusterrolebinding', 'as-joe', '--clusterrole=as-joe', '--user=ann');
    await run('-n', 'narrow', 'create', 'rolebinding', 'joe', '--clusterrole=view', '--user=joe');
    const list = ['-n', 'narrow', 'get', 'configmaps', '-o', 'name', '--as=joe'];
    expect(await asAnn(...list)).toContain('configmap/');
    const rejected = (...args: string[]) => asAnn(...args).then(String, ({ stderr }) => stderr);
    expect(await rejected('-n', 'narrow', 'get', 'configmap', 'kube-root-ca.crt', '--as=joe')).toBe(
      'Error from server (Forbidden): configmaps "kube-root-ca.crt" is forbidden: User "ann" cannot impersonate-on:user-info:get resource "configmaps" in API group "" in the namespace "narrow"\n',
    );
    expect(await rejected(...list.slice(0, -1), '--as=bob')).toContain('cannot impersonate:user-info resource "users"');
    expect(await rejected(...list, '--as-group=system:masters')).toContain(
      'impersonating the system:masters group is not allowed',
    );
    await run('delete', 'clusterrolebinding', 'as-joe');
    expect(await rejected(...list)).toContain('cannot impersonate-on:user-info:list resource "configmaps"');
  });

  test('gives a role in a namespace, which counts at once, and takes it away', async () => {
    await run('create', 'namespace', 'shop');
    await run('-n', 'shop', 'create', 'role', 'reader', '--verb=get,list', '--resource=configmaps,pods/log');
    await run('-n', 'shop', 'create', 'rolebinding', 'reader', '--role=reader', '--user=ann');
    expect(await asAnn('-n', 'shop', 'get', 'configmaps', '-o', 'name')).toContain('configmap/');
    await expect(asAnn('get', 'configmaps', '-A')).rejects.toMatchObject({
      stderr:
        'Error from server (Forbidden): configmaps is forbidden: User "ann" cannot list resource "configmaps" in API group "" at the cluster scope\n',
    });
    await expect(asAnn('-n', 'shop', 'create', 'configmap', 'a')).rejects.toMatchObject({
      stderr: expect.stringContaining('cannot create resource "configmaps" in API group "" in the namespace "shop"'),
    });
    expect(await canI('get', 'pods', '--subresource=log', '--as=ann', '-n', 'shop')).toBe('yes');
    await run('-n', 'shop', 'delete', 'rolebinding', 'reader');
    await expect(asAnn('-n', 'shop', 'get', 'configmaps')).rejects.toMatchObject({
      stderr: expect.stringContaining('Forbidden'),
    });
  });

  test('does not let anybody give what he has not got, nor act as whom he may not', async () => {
    await run('create', 'namespace', 'team');
    await run('-n', 'team', 'create', 'rolebinding', 'boss', '--clusterrole=admin', '--user=ann');
    await asAnn('-n', 'team', 'create', 'rolebinding', 'helper', '--clusterrole=edit', '--user=joe');
    await expect(
      asAnn('-n', 'team', 'create', 'rolebinding', 'all', '--clusterrole=cluster-admin', '--user=ann'),
    ).rejects.toMatchObject({
      stderr: expect.stringContaining('is attempting to grant RBAC permissions not currently held'),
    });
    await expect(asAnn('-n', 'team', 'create', 'role', 'all', '--verb=*', '--resource=*.*')).rejects.toMatchObject({
      stderr: expect.stringContaining('not currently held'),
    });
    await expect(asAnn('-n', 'team', 'get', 'pods', '--as=root', '--as-group=system:masters')).rejects.toMatchObject({
      stderr: expect.stringContaining(
        'cannot impersonate-on:user-info:list resource "pods" in API group "" in the namespace "team"',
      ),
    });
    // Users who may edit may act as the service accounts there.
    const asAccount = ['can-i', 'list', 'pods', '--as=system:serviceaccount:team:default'];
    const answer = await asAnn('-n', 'team', 'auth', ...asAccount).catch(({ stdout }) => stdout.trim());
    expect(answer).toBe('no');
  });

  test('puts roles in order with auth reconcile', async () => {
    const file = join(home, 'roles.json');
    const rbac = 'rbac.authorization.k8s.io';
    const clusterRole = (rules: object[]) => ({
      ...{ apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: { name: 'auditor' } },
      rules,
    });
    const rule = (resource: string) => ({ verbs: ['get'], apiGroups: [''], resources: [resource] });
    await writeFile(file, JSON.stringify(clusterRole([rule('pods')])));
    expect(await run('auth', 'reconcile', '-f', file)).toContain(
      'clusterrole.rbac.authorization.k8s.io/auditor reconciled',
    );
    await writeFile(file, JSON.stringify(clusterRole([rule('nodes')])));
    await run('auth', 'reconcile', '-f', file);
    const resources = await run('get', 'clusterrole', 'auditor', '-o', 'jsonpath={.rules[*].resources[*]}');
    expect(resources.split(' ').sort()).toEqual(['nodes', 'pods']);
    await run('auth', 'reconcile', '-f', file, '--remove-extra-permissions');
    expect(await run('get', 'clusterrole', 'auditor', '-o', 'jsonpath={.rules[*].resources[*]}')).toBe('nodes');
  });

  test('sees a role grow into view when its label says so', async () => {
    await run('create', 'clusterrole', 'widgets', '--verb=get', '--resource=nodes');
    await run('label', 'clusterrole', 'widgets', 'rbac.authorization.k8s.io/aggregate-to-view=true');
    const rules = () => run('get', 'clusterrole', 'admin', '-o', 'jsonpath={.rules[*].resources}');
    await expect.poll(rules).toContain('["nodes"]');
    await run('delete', 'clusterrole', 'widgets');
    await expect.poll(rules).not.toContain('["nodes"]');
  });
});

describe('a webhook', () => {
  test('decides where roles have no opinion', async () => {
    const authority = await testAuthority();
    const asked: any[] = [];
    const server = createServer(await authority.server(), (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { spec } = JSON.parse(Buffer.concat(chunks).toString());
        asked.push(spec);
        const allowed = spec.resourceAttributes?.resource === 'configmaps';
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ status: { allowed, reason: 'the webhook says so' } }));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const config = join(home, 'webhook.yaml');
    await writeFile(
      config,
      JSON.stringify({
        clusters: [
          {
            name: 'w',
            cluster: {
              server: `https://127.0.0.1:${port}/authorize`,
              'certificate-authority-data': Buffer.from(authority.ca).toString('base64'),
            },
          },
        ],
        users: [{ name: 'qd', user: {} }],
        contexts: [{ name: 'w', context: { cluster: 'w', user: 'qd' } }],
        'current-context': 'w',
      }),
    );
    const modes = ['--authorization-mode', 'Node,RBAC,Webhook', '--authorization-webhook-config-file', config];
    const qd = await startQd({ flags: [...modes, '--token-auth-file', join(home, 'tokens')] });
    try {
      const headers = { 'impersonate-user': 'ann' };
      const list = (plural: string) => qd.request('GET', `/api/v1/namespaces/default/${plural}`, { headers });
      expect((await list('configmaps')).code).toBe(200);
      expect(asked).toHaveLength(1);
      expect(asked[0]).toMatchObject({ user: 'ann', resourceAttributes: { verb: 'list', namespace: 'default' } });
      const rejected = await list('secrets');
      expect(rejected.code).toBe(403);
      expect(rejected.body.message).toMatch(/in the namespace "default": the webhook says so$/);
    } finally {
      await qd.stop();
      server.closeAllConnections();
      server.close();
    }
  });
});
