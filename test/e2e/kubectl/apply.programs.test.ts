/** Tests declarative changes: apply, diff, replace, in old and new versions. */
import { expect, test } from 'vitest';
import { configMap, deployment, withKubectl } from './driver.ts';

/** Objects as they were written for a cluster of 1.7. */
const oldies = (image: string) => {
  const containers = [{ name: 'main', image }];
  // Each has different labels: a Deployment takes a ReplicaSet over that has its labels, and takes it along when it
  // goes.
  const template = (kind: string) => ({ metadata: { labels: { app: `old-${kind}` } }, spec: { containers } });
  const pod = { spec: { containers, restartPolicy: 'Never' } };
  const metadata = { name: 'old' };
  const early = (kind: string) => ({
    ...{ apiVersion: 'extensions/v1beta1', kind, metadata },
    spec: { template: template(kind) },
  });
  return [
    early('Deployment'),
    early('DaemonSet'),
    early('ReplicaSet'),
    {
      apiVersion: 'apps/v1beta1',
      kind: 'StatefulSet',
      metadata,
      spec: { serviceName: 'old', template: template('StatefulSet') },
    },
    {
      apiVersion: 'batch/v1beta1',
      kind: 'CronJob',
      metadata,
      spec: { schedule: '@daily', jobTemplate: { spec: { template: pod } } },
    },
  ];
};

withKubectl((kubectl) => {
  test('apply creates, changes, and leaves alone', async () => {
    const file = await kubectl.file('app.json', [deployment('web'), configMap('settings', { a: '1', b: '2' })]);
    const apply = () => kubectl.lines('apply', '-f', file);
    expect(await apply()).toEqual(['deployment.apps/web created', 'configmap/settings created']);
    expect(await apply()).toEqual(['deployment.apps/web unchanged', 'configmap/settings unchanged']);
    await kubectl.run('scale', 'deployment/web', '--replicas=3');
    await kubectl.file('app.json', [deployment('web'), configMap('settings', { a: '9' })]);
    expect(await apply()).toEqual(['deployment.apps/web unchanged', 'configmap/settings configured']);
    expect(await kubectl.run('get', 'cm/settings', '-o', 'jsonpath={.data}')).toBe('{"a":"9"}');
    expect(await kubectl.run('get', 'deployment/web', '-o', 'jsonpath={.spec.replicas}')).toBe('3');
    expect(await kubectl.run('apply', 'view-last-applied', 'configmap/settings')).toMatch(/^data:\n {2}a: "9"$/m);
    const other = await kubectl.file('settings.json', configMap('settings', { a: '8' }));
    await kubectl.run('apply', 'set-last-applied', '-f', other);
    expect(await kubectl.run('apply', 'view-last-applied', 'configmap/settings')).toContain('a: "8"');
  });

  test('objects of custom kinds comply with the rules of their schema', async () => {
    if (!kubectl.isNewest) return;
    const spec = {
      type: 'object',
      properties: { size: { type: 'integer' } },
      'x-kubernetes-validations': [{ rule: 'self.size >= oldSelf.size', message: 'size cannot fall' }],
    };
    const schema = { openAPIV3Schema: { type: 'object', properties: { spec } } };
    const definition = {
      ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
      metadata: { name: 'disks.rules.example.com' },
      spec: {
        ...{ group: 'rules.example.com', scope: 'Namespaced', names: { plural: 'disks', kind: 'Disk' } },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    };
    const disk = (size: number) => ({
      ...{ apiVersion: 'rules.example.com/v1', kind: 'Disk', metadata: { name: 'a' } },
      spec: { size },
    });
    await kubectl.run('apply', '-f', await kubectl.file('definition.json', definition));
    await kubectl.run('wait', '--for=condition=Established', 'crd/disks.rules.example.com');
    const apply = async (size: number) => kubectl.outcome('apply', '-f', await kubectl.file('disk.json', disk(size)));
    expect((await apply(3)).stdout).toContain('disk.rules.example.com/a created');
    const rejected = await apply(2);
    expect([rejected.code, rejected.stderr]).toEqual([
      1,
      expect.stringContaining('spec: Invalid value: size cannot fall'),
    ]);
    expect((await apply(4)).stdout).toContain('disk.rules.example.com/a configured');
    await kubectl.run('delete', 'crd/disks.rules.example.com');
  });

  test('server-side apply: managers, conflicts, force, diff and the move from client-side apply', async () => {
    if (!kubectl.isNewest) return;
    const apply = (file: string, ...flags: string[]) => kubectl.outcome('apply', '--server-side', '-f', file, ...flags);
    const said = ({ code, stdout, stderr }: { code: number; stdout: string; stderr: string }) =>
      `${code} ${stdout.trim()}${stderr.split('\n')[0]}`;
    const file = await kubectl.file('shared.json', configMap('shared', { a: '1' }));
    expect(said(await apply(file))).toBe('0 configmap/shared serverside-applied');
    const other = await kubectl.file('other.json', configMap('shared', { a: '2', b: '3' }));
    const ci = ['--field-manager', 'ci'];
    expect(said(await apply(other, ...ci))).toBe(
      '1 error: Apply failed with 1 conflict: conflict with "kubectl": .data.a',
    );
    expect(said(await apply(other, ...ci, '--force-conflicts'))).toBe('0 configmap/shared serverside-applied');
    const shown = ['get', 'configmap/shared', '-o', 'json'];
    const { managedFields } = JSON.parse(await kubectl.run(...shown, '--show-managed-fields')).metadata;
    expect(managedFields.map(({ manager, fieldsV1 }: any) => [manager, fieldsV1])).toEqual([
      ['ci', { 'f:data': { 'f:a': {}, 'f:b': {} } }],
    ]);
    const diff = await kubectl.outcome('diff', '--server-side', '--force-conflicts', '-f', file);
    expect([diff.code, diff.stdout.split('\n').filter((line) => /^[-+] {2}a/.test(line))]).toEqual([
      1,
      ['-  a: "2"', '+  a: "1"'],
    ]);
    const created = await kubectl.file('created.json', deployment('created'));
    await kubectl.run('create', '-f', created);
    await kubectl.run('scale', 'deployment/created', '--replicas=2');
    const owners = JSON.parse(await kubectl.run('get', '-f', created, '-o', 'json', '--show-managed-fields')).metadata;
    expect(owners.managedFields.map(({ manager, subresource = '' }: any) => `${manager} ${subresource}`)).toEqual(
      expect.arrayContaining(['kubectl-create ', 'kubectl scale', 'kube-controller-manager status']),
    );
    expect(await kubectl.run('get', '-f', created, '-o', 'json')).not.toContain('managedFields');
    const { spec, ...rest } = deployment('created') as { spec: object };
    const scaled = await kubectl.file('scaled.json', { ...rest, spec: { ...spec, replicas: 5 } });
    expect(said(await apply(scaled, ...ci))).toBe(
      '1 error: Apply failed with 1 conflict: conflict with "kubectl" with subresource "scale" using apps/v1: .spec.replicas',
    );
    const moved = await kubectl.file('moved.json', deployment('moved'));
    await kubectl.run('apply', '-f', moved);
    await kubectl.file('moved.json', { ...deployment('moved'), metadata: { name: 'moved', labels: { x: 'y' } } });
    expect(said(await apply(moved))).toBe('0 deployment.apps/moved serverside-applied');
  });

  test('diff shows what apply would change, and nothing else', async () => {
    const map = configMap('different', { a: '1' });
    const file = await kubectl.file('map.json', map);
    await kubectl.run('apply', '-f', file);
    expect(await kubectl.run('diff', '-f', file)).toBe('');
    await kubectl.file('map.json', configMap('different', { a: '2' }));
    const { code, stdout } = await kubectl.outcome('diff', '-f', file);
    const changed = stdout.split('\n').filter((line) => /^[-+](?![-+])/.test(line));
    expect([code, changed]).toEqual([1, ['-  a: "1"', '+  a: "2"']]);
    const fresh = await kubectl.outcome('diff', '-f', await kubectl.file('new.json', configMap('new', { a: '1' })));
    expect([fresh.code, fresh.stdout]).toEqual([1, expect.stringContaining('+kind: ConfigMap')]);
  });

  test('replace, also by force', async () => {
    const file = await kubectl.file('replaced.json', configMap('replaced', { a: '1' }));
    expect(await kubectl.fails('replace', '-f', file)).toContain('configmaps "replaced" not found');
    await kubectl.run('create', '-f', file);
    const uid = () => kubectl.run('get', 'cm/replaced', '-o', 'jsonpath={.metadata.uid}');
    const before = await uid();
    expect(await kubectl.run('replace', '-f', file)).toBe('configmap/replaced replaced');
    expect(await uid()).toBe(before);
    expect(await kubectl.run('replace', '--force', '-f', file)).toContain('configmap/replaced replaced');
    expect(await uid()).not.toBe(before);
    const stale = { ...configMap('replaced', {}), metadata: { name: 'replaced', resourceVersion: '1' } };
    expect(await kubectl.fails('replace', '-f', await kubectl.file('stale.json', stale))).toContain(
      'the object has been modified; please apply your changes to the latest version and try again',
    );
  });

  test('prune takes away what is no longer declared', async () => {
    const labels = { set: 'pruned' };
    const file = await kubectl.file('set.json', [configMap('one', {}, labels), configMap('two', {}, labels)]);
    await kubectl.run('apply', '-f', file);
    await kubectl.file('set.json', [configMap('one', {}, labels)]);
    const list = kubectl.isNewest ? '--prune-allowlist=core/v1/ConfigMap' : '--prune-whitelist=core/v1/ConfigMap';
    expect(await kubectl.lines('apply', '--prune', '-l', 'set=pruned', list, '-f', file)).toEqual([
      'configmap/one unchanged',
      'configmap/two pruned',
    ]);
  });

  test('apply, of objects that were written in old versions and are read in new ones', async () => {
    const file = await kubectl.file('old.json', oldies('nginx:1.7'));
    const apply = async () => (await kubectl.warned('apply', '-f', file)).split('\n').map((line) => line.split(' ')[1]);
    expect(await apply()).toEqual(oldies('').map(() => 'created'));
    expect(await apply()).toEqual(oldies('').map(() => 'unchanged'));
    await kubectl.file('old.json', oldies('nginx:1.8'));
    expect(await apply()).toEqual(oldies('').map(() => 'configured'));
    const workloads = ['deployments', 'daemonsets', 'replicasets', 'statefulsets'].map((name) => `${name}.v1.apps/old`);
    const path = 'jsonpath={range .items[*]}{.apiVersion} {..image}{"\\n"}{end}';
    expect(await kubectl.lines('get', ...workloads, 'cronjobs.v1.batch/old', '-o', path)).toEqual([
      ...workloads.map(() => 'apps/v1 nginx:1.8'),
      'batch/v1 nginx:1.8',
    ]);
    const { spec } = JSON.parse(await kubectl.warned('get', 'deployments.v1beta1.extensions/old', '-o', 'json'));
    expect(spec).toMatchObject({ strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } } });
    expect((await kubectl.warned('delete', '-f', file)).split('\n')).toHaveLength(oldies('').length);
  });
});
