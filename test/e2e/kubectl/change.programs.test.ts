/** Tests changes with kubectl: labels, patches, edits, sizes, images, and deletion. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { configMap, deployment, withKubectl } from './driver.ts';

const EXAMPLES = join(import.meta.dirname, '..', '..', '..', 'examples', 'kinds');
const request = parse(readFileSync(join(EXAMPLES, 'certificate-signing-request.yaml'), 'utf8'));

withKubectl((kubectl) => {
  const field = (what: string, path: string) => kubectl.run('get', what, '-o', `jsonpath={${path}}`);

  test('labels and annotations', async () => {
    await kubectl.run('create', '-f', await kubectl.file('web.json', deployment('web')));
    expect(await kubectl.run('label', 'deployment/web', 'tier=front')).toBe('deployment.apps/web labeled');
    expect(await kubectl.fails('label', 'deployment/web', 'tier=back')).toMatch(/--overwrite is false/);
    await kubectl.run('label', 'deployment', '-l', 'tier=front', 'tier=back', '--overwrite');
    expect(await kubectl.lines('label', 'deployment/web', '--list')).toEqual(['tier=back']);
    await kubectl.run('label', 'deployment/web', 'tier-');
    await kubectl.run('annotate', 'deployment/web', 'example.com/note=a b', 'other=x');
    await kubectl.run('annotate', 'deployment', '--all', 'other-');
    const annotations = JSON.parse(await field('deployment/web', '.metadata.annotations'));
    expect([annotations['example.com/note'], annotations.other]).toEqual(['a b', undefined]);
    expect(await kubectl.fails('label', 'deployment/web', 'bad key=x')).toMatch(/invalid label|name part must consist/);
  });

  test('patches of every type, in old and new versions', async () => {
    const patch = (resource: string, type: string, body: unknown) =>
      kubectl.outcome('patch', resource, `--type=${type}`, '-p', JSON.stringify(body));
    const side = { name: 'side', image: 'busybox' };
    for (const [resource, type, body] of [
      ['deployments.v1beta1.extensions/web', 'strategic', { spec: { template: { spec: { containers: [side] } } } }],
      ['deployments.v1beta2.apps/web', 'merge', { spec: { revisionHistoryLimit: 3 } }],
      ['deployments.v1.apps/web', 'json', [{ op: 'add', path: '/spec/paused', value: true }]],
    ] as const) {
      const { code, stdout, stderr } = await patch(resource, type, body);
      expect([code, stderr.replace(/^Warning: .* is deprecated .*\n$/, '')]).toEqual([0, '']);
      expect(stdout).toMatch(/^deployment\.\w+\/web patched\n$/);
    }
    expect(await field('deployment/web', '.spec.template.spec.containers[*].name')).toBe('side main');
    expect(await field('deployment/web', '.spec.revisionHistoryLimit')).toBe('3');
    const same = [{ op: 'add', path: '/spec/paused', value: true }];
    expect((await patch('deployment/web', 'json', same)).stdout).toMatch(/patched \(no change\)/);
    // kubectl 1.20 keeps the reason to itself.
    const why = kubectl.isNewest ? ': testing value /spec/paused failed: test failed' : '';
    const rejected = await patch('deployment/web', 'json', [{ op: 'test', path: '/spec/paused', value: 1 }]);
    expect([rejected.code, rejected.stderr]).toEqual([1, `The request is invalid${why}\n`]);
    expect((await patch('deployment/web', 'merge', { spec: { replicas: -1 } })).stderr).toContain(
      'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
    );
    if (!kubectl.isNewest) return;
    const status = ['--subresource=status', '--type=merge', '-p', '{"status":{"replicas":2}}'];
    await kubectl.run('patch', 'deployment/web', ...status);
    expect(
      await kubectl.run('get', 'deployment/web', '--subresource=status', '-o', 'jsonpath={.status.replicas}'),
    ).toBe('2');
    const scaled = ['get', 'deployment/web', '--subresource=scale', '-o', 'jsonpath={.kind} {.spec.replicas}'];
    for (const replicas of [3, 1]) {
      const change = ['--subresource=scale', '--type=merge', '-p', JSON.stringify({ spec: { replicas } })];
      await kubectl.run('patch', 'deployment/web', ...change);
      expect(await kubectl.run(...scaled)).toBe(`Scale ${replicas}`);
    }
  });

  test('migrations of stored objects', async () => {
    const name = `all-${kubectl.namespace}`;
    const migration = {
      ...{ apiVersion: 'storagemigration.k8s.io/v1beta1', kind: 'StorageVersionMigration', metadata: { name } },
      spec: { resource: { group: 'apps', resource: 'deployments' } },
    };
    await kubectl.run('create', '-f', await kubectl.file('migration.json', migration));
    await kubectl.run('wait', '--for=condition=Succeeded', `storageversionmigration/${name}`, '--timeout=30s');
    expect(await kubectl.lines('get', 'storageversionmigrations', name, '--no-headers')).toEqual([
      expect.stringMatching(/deployments\.apps +Succeeded$/),
    ]);
  });

  test('edit', async () => {
    const edit = async (script: string, ...args: string[]) => {
      const editor = await kubectl.file('editor.sh', `#!/bin/sh\nsed -i '${script}' "$1"\n`);
      return kubectl.with({ KUBE_EDITOR: editor }, 'edit', ...args);
    };
    const edited = await edit('s/nginx:1.27/nginx:1.28/', 'deployment/web');
    expect(edited).toMatchObject({ code: 0, stdout: 'deployment.apps/web edited\n', stderr: '' });
    expect(await field('deployment/web', '.spec.template.spec.containers[1].image')).toBe('nginx:1.28');
    expect((await edit('s/nothing/else/', 'deployment/web')).stderr).toContain('Edit cancelled, no changes made.');
    const old = await edit('s/nginx:1.28/nginx:1.29/', 'deployments.v1beta1.extensions/web');
    expect(old).toMatchObject({ code: 0, stdout: 'deployment.extensions/web edited\n' });
    const wrong = await edit('s/^  replicas: 1$/  replicas: -1/', 'deployment/web');
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringMatching(/"web" is invalid|was not valid/)]);
  });

  test('sizes, and who is reached where', async () => {
    expect(await kubectl.run('scale', 'deployment/web', '--replicas=4')).toBe('deployment.apps/web scaled');
    expect(await kubectl.fails('scale', 'deployment/web', '--current-replicas=1', '--replicas=2')).toMatch(/was 4/);
    await kubectl.run('scale', 'deployment/web', '--current-replicas=4', '--replicas=2');
    expect(await field('deployment/web', '.spec.replicas')).toBe('2');
    const goal = kubectl.isNewest ? '--cpu=80%' : '--cpu-percent=80';
    await kubectl.run('autoscale', 'deployment/web', '--min=1', '--max=5', goal);
    expect(await field('hpa/web', '.spec.maxReplicas')).toBe('5');
    await kubectl.run('expose', 'deployment', 'web', '--port=80', '--target-port=8080', '--type=NodePort');
    expect(await field('service/web', '.spec.selector.app')).toBe('web');
    await kubectl.run('set', 'selector', 'service/web', 'app=other');
    expect(await field('service/web', '.spec.selector')).toBe('{"app":"other"}');
  });

  test('parts of a template, and its roll-out', async () => {
    const set = (...args: string[]) => kubectl.run('set', ...args);
    await set('image', 'deployment/web', 'main=nginx:1.30');
    await set('env', 'deployment/web', '-c', 'main', 'A=b');
    await set('resources', 'deployment/web', '-c', 'main', '--limits=cpu=200m,memory=64Mi');
    await set('serviceaccount', 'deployment/web', 'default');
    const path = '.spec.template.spec.containers[?(@.name=="main")]';
    expect(JSON.parse(await field('deployment/web', path))).toMatchObject({
      image: 'nginx:1.30',
      env: [{ name: 'A', value: 'b' }],
      resources: { limits: { cpu: '200m', memory: '64Mi' } },
    });
    await kubectl.run('rollout', 'resume', 'deployment/web');
    await kubectl.run('rollout', 'pause', 'deployment/web');
    await kubectl.run('rollout', 'resume', 'deployment/web');
    await kubectl.run('rollout', 'restart', 'deployment/web');
    expect(await kubectl.run('rollout', 'status', 'deployment/web', '--watch=false')).toMatch(
      /^Waiting for deployment/,
    );
    expect(await kubectl.run('rollout', 'history', 'deployment/web')).toMatch(/^deployment.apps\/web/);
  });

  test('wait', async () => {
    await kubectl.run('create', 'configmap', 'going', '--from-literal=a=1');
    const name = `waits-${kubectl.namespace}`;
    await kubectl.run('create', '-f', await kubectl.file('csr.json', { ...request, metadata: { name } }));
    const approved = kubectl.run('wait', '--for=condition=Approved', `csr/${name}`, '--timeout=15s');
    await kubectl.run('certificate', 'approve', name);
    expect(await approved).toBe(`certificatesigningrequest.certificates.k8s.io/${name} condition met`);
    expect(await kubectl.fails('wait', '--for=condition=Failed', `csr/${name}`, '--timeout=0s')).toMatch(
      /timed out|condition not met/,
    );
    if (kubectl.isNewest) {
      const changed = kubectl.run('wait', '--for=jsonpath={.data.a}=2', 'configmap/going', '--timeout=15s');
      await kubectl.run('patch', 'configmap/going', '-p', '{"data":{"a":"2"}}');
      expect(await changed).toBe('configmap/going condition met');
    }
    const gone = kubectl.outcome('wait', '--for=delete', 'configmap/going', '--timeout=15s');
    await kubectl.run('delete', 'configmap/going', '--wait=false');
    const { code, stderr } = await gone;
    // kubectl 1.20 finds nothing to wait for where it comes too late.
    if (code !== 0) expect(stderr).toMatch(/no matching resources found|NotFound/);
    await kubectl.run('delete', 'csr', name);
  });

  test('delete', async () => {
    const orphan = kubectl.isNewest ? '--cascade=orphan' : '--cascade=false';
    expect((await kubectl.outcome('delete', 'deployment/web', orphan)).stdout).toContain(
      'deployment.apps "web" deleted',
    );
    const maps = ['a', 'b', 'c'].map((name) => configMap(name, {}, { gone: 'yes' }));
    const file = await kubectl.file('maps.json', maps);
    await kubectl.run('create', '-f', file);
    expect(await kubectl.lines('delete', 'configmap', '-l', 'gone=yes')).toHaveLength(3);
    await kubectl.run('create', '-f', file);
    expect(await kubectl.lines('delete', '-f', file, '--grace-period=5')).toHaveLength(3);
    expect(await kubectl.fails('delete', 'configmap', 'a')).toContain('configmaps "a" not found');
    expect(await kubectl.run('delete', 'configmap', 'a', '--ignore-not-found')).toBe('');
    await kubectl.run('run', 'bare', '--image=busybox');
    expect((await kubectl.outcome('delete', 'pod', 'bare', '--grace-period=0', '--force')).stdout).toContain(
      'force deleted',
    );
    await kubectl.run('delete', 'service,hpa', '--all');
    expect(await kubectl.run('get', 'service,hpa', '-o', 'name')).toBe('');
  });
});
