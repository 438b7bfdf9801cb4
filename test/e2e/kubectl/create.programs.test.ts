/** Tests objects that kubectl creates from flags: the newest sends them in protobuf, the older one in JSON. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { configMap, deployment, withEveryKubectl } from './driver.ts';

let keys: string;
beforeAll(() => {
  keys = mkdtempSync(join(tmpdir(), 'qd-keys-'));
  const paths = ['-keyout', join(keys, 'key.pem'), '-out', join(keys, 'cert.pem')];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-subj', '/CN=x', '-days', '2'];
  execFileSync('openssl', ['req', '-x509', ...kind, ...paths], { stdio: 'ignore' });
});
afterAll(() => rmSync(keys, { recursive: true, force: true }));

withEveryKubectl((kubectl) => {
  const make = (...args: string[]) => kubectl.run('create', ...args);
  /** kubectl 1.20 makes some kinds in a version that has gone since, and is warned. */
  const makeDeprecated = (...args: string[]) => (kubectl.isNewest ? make(...args) : kubectl.warned('create', ...args));
  const spec = async (what: string) => JSON.parse(await kubectl.run('get', what, '-o', 'json')).spec;

  test('workloads', async () => {
    expect(await make('deployment', 'web', '--image=nginx:1.27')).toBe('deployment.apps/web created');
    expect(await spec('deployment/web')).toMatchObject({
      replicas: 1,
      progressDeadlineSeconds: 600,
      template: { spec: { containers: [{ name: 'nginx', image: 'nginx:1.27', imagePullPolicy: 'IfNotPresent' }] } },
    });
    await make('job', 'once', '--image=busybox', '--', 'date', '-u');
    expect((await spec('job/once')).template.spec.containers[0].command).toEqual(['date', '-u']);
    await makeDeprecated('cronjob', 'often', '--image=busybox', '--schedule=*/5 * * * *', '--', 'date');
    expect(await spec('cronjob/often')).toMatchObject({ schedule: '*/5 * * * *', suspend: false });
    // kubectl 1.20 does not know the version of the answer, whichever server sends it.
    if (kubectl.isNewest) await make('job', 'now', '--from=cronjob/often');
    await kubectl.run('run', 'bare', '--image=busybox', '--restart=Never', '--env=A=b', '--labels=app=bare');
    expect(await spec('pod/bare')).toMatchObject({
      restartPolicy: 'Never',
      containers: [{ env: [{ name: 'A', value: 'b' }] }],
    });
  });

  test('settings', async () => {
    await make('configmap', 'settings', '--from-literal=a=1', `--from-file=${join(keys, 'cert.pem')}`);
    await make('secret', 'generic', 'word', '--from-literal=p=secret');
    await make('secret', 'tls', 'pair', `--cert=${join(keys, 'cert.pem')}`, `--key=${join(keys, 'key.pem')}`);
    const account = ['--docker-server=r.example.com', '--docker-username=u', '--docker-password=p'];
    await make('secret', 'docker-registry', 'registry', ...account);
    const columns = 'custom-columns=N:.metadata.name,T:.type,K:.data.p';
    expect(await kubectl.lines('get', 'secret', 'word', 'pair', 'registry', '--no-headers', '-o', columns)).toEqual([
      'word Opaque c2VjcmV0',
      'pair kubernetes.io/tls <none>',
      'registry kubernetes.io/dockerconfigjson <none>',
    ]);
    expect(await kubectl.run('get', 'configmap/settings', '-o', 'jsonpath={.data.cert\\.pem}')).toMatch(/^-----BEGIN/);
  });

  test('services', async () => {
    for (const type of ['clusterip', 'nodeport', 'loadbalancer']) await make('service', type, type, '--tcp=80:8080');
    await make('service', 'externalname', 'outside', '--external-name=example.com');
    expect(await spec('service/nodeport')).toMatchObject({
      type: 'NodePort',
      ports: [{ port: 80, targetPort: 8080, protocol: 'TCP', nodePort: expect.any(Number) }],
    });
    expect(await spec('service/outside')).toMatchObject({ type: 'ExternalName', externalName: 'example.com' });
    await make('ingress', 'way', '--class=nginx', '--rule=foo.example.com/bar*=clusterip:80,tls=pair');
    expect(await spec('ingress/way')).toMatchObject({ ingressClassName: 'nginx', tls: [{ secretName: 'pair' }] });
  });

  test('rights and limits', async () => {
    await make('serviceaccount', 'bob');
    await make('role', 'reader', '--verb=get,list', '--resource=pods,deployments.apps');
    await make('rolebinding', 'readers', '--role=reader', '--user=jane', `--serviceaccount=${kubectl.namespace}:bob`);
    await make('clusterrole', `all-${kubectl.namespace}`, '--verb=*', '--resource=nodes');
    const binding = [`--clusterrole=all-${kubectl.namespace}`, '--group=ops'];
    await make('clusterrolebinding', `all-${kubectl.namespace}`, ...binding);
    await make('quota', 'little', '--hard=pods=20,requests.cpu=4');
    await makeDeprecated('poddisruptionbudget', 'most', '--selector=app=web', '--min-available=50%');
    expect(await spec('pdb/most')).toMatchObject({ minAvailable: '50%', selector: { matchLabels: { app: 'web' } } });
    await make('priorityclass', `high-${kubectl.namespace}`, '--value=1000', '--description=first');
    expect(await kubectl.run('auth', 'can-i', 'create', 'pods')).toBe('yes');
    expect(await kubectl.run('auth', 'can-i', '--list')).toMatch(/^Resources +Non-Resource URLs/);
    if (kubectl.isNewest) {
      expect(await kubectl.run('auth', 'whoami')).toContain('kubernetes-admin');
      const token = await kubectl.run('create', 'token', 'bob', '--duration=10m');
      const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
      expect(claims.sub).toBe(`system:serviceaccount:${kubectl.namespace}:bob`);
      expect(claims.exp - claims.iat).toBe(600);
    }
    await make('namespace', `${kubectl.namespace}-too`);
    expect(await kubectl.run('delete', 'namespace', `${kubectl.namespace}-too`)).toContain('deleted');
  });

  test('create from a file, and its questions about that', async () => {
    const file = await kubectl.file('two.json', [deployment('one'), configMap('two', { a: '1' })]);
    expect(await kubectl.lines('create', '-f', file)).toEqual(['deployment.apps/one created', 'configmap/two created']);
    expect(await kubectl.fails('create', '-f', file)).toContain('configmaps "two" already exists');
    const wrong = await kubectl.file('wrong.json', { ...configMap('three', {}), dat: {}, immutable: 'no' });
    expect(await kubectl.fails('create', '-f', wrong)).toMatch(/invalid|unknown field|cannot be handled/i);
    const unknown = await kubectl.file('unknown.json', { ...configMap('three', {}), dat: {} });
    expect(await kubectl.fails('create', '-f', unknown, '--validate=true')).toMatch(/unknown field "?(\.?dat)?/);
    const unchecked = ['create', '-f', unknown, '--validate=false'];
    // The older one leaves the check to the server without saying so, and gets a warning; the newest asks for none.
    const made = kubectl.isNewest ? kubectl.run(...unchecked) : kubectl.warned(...unchecked);
    expect(await made).toBe('configmap/three created');
  });

  test('dry runs leave nothing', async () => {
    const file = await kubectl.file('dry.json', configMap('dry', { a: '1' }));
    expect(await kubectl.run('create', '-f', file, '--dry-run=server')).toBe('configmap/dry created (server dry run)');
    expect(await kubectl.run('apply', '-f', file, '--dry-run=server')).toBe('configmap/dry created (server dry run)');
    const tried = await make(
      'deployment',
      'dry',
      '--image=nginx',
      '--dry-run=server',
      '-o',
      'jsonpath={.metadata.uid}',
    );
    expect(tried).toMatch(/^[0-9a-f-]{36}$/);
    expect(await kubectl.run('get', 'configmap,deployment', '--field-selector=metadata.name=dry', '-o', 'name')).toBe(
      '',
    );
    const text = await make('deployment', 'dry', '--image=nginx', '--dry-run=client', '-o', 'yaml');
    expect(await kubectl.run('apply', '-f', await kubectl.file('dry.yaml', text))).toBe('deployment.apps/dry created');
  });
});
