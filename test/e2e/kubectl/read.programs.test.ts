/** Tests kubectl's output: every format, watches, pages, descriptions, schemas, discovery. */
import { expect, test } from 'vitest';
import { configMap, deployment, withKubectl } from './driver.ts';

withKubectl((kubectl) => {
  test('every output form', async () => {
    await kubectl.run('create', '-f', await kubectl.file('web.json', [deployment('web'), deployment('api')]));
    const get = (...args: string[]) => kubectl.run('get', 'deployments', ...args);
    expect(await kubectl.lines('get', 'deployments')).toEqual([
      'NAME READY UP-TO-DATE AVAILABLE AGE',
      expect.stringMatching(/^api \d\/1 \d \d \d+s$/),
      expect.stringMatching(/^web \d\/1 \d \d \d+s$/),
    ]);
    expect((await kubectl.lines('get', 'deployments/web', '-o', 'wide'))[1]).toMatch(
      /^web \d\/1 \d \d \d+s main nginx:1.27 app=web$/,
    );
    expect(await get('-o', 'name')).toBe('deployment.apps/api\ndeployment.apps/web');
    expect(JSON.parse(await get('web', '-o', 'json'))).toMatchObject({ kind: 'Deployment', spec: { replicas: 1 } });
    expect(await get('web', '-o', 'yaml')).toMatch(/^apiVersion: apps\/v1\nkind: Deployment\nmetadata:\n/);
    expect(await get('-o', 'jsonpath={.items[*].metadata.name}')).toBe('api web');
    expect(await get('web', '-o', 'jsonpath={.spec.template.spec.containers[0].image}')).toBe('nginx:1.27');
    expect(await get('-o', 'go-template={{range .items}}{{.metadata.name}};{{end}}')).toBe('api;web;');
    expect(await kubectl.lines('get', 'deploy', '-o', 'custom-columns=N:.metadata.name,R:.spec.replicas')).toEqual([
      'N R',
      'api 1',
      'web 1',
    ]);
    expect(await kubectl.lines('get', 'deploy', '--show-labels', '-L', 'app', '--no-headers')).toEqual([
      expect.stringMatching(/^api .* <none>$/),
      expect.stringMatching(/^web .* <none>$/),
    ]);
    expect(await get('--sort-by=.metadata.name', '--field-selector=metadata.name!=api', '-o', 'name')).toBe(
      'deployment.apps/web',
    );
    expect(await get('-l', 'app notin (x)', '-o', 'name')).toContain('web');
    expect(await kubectl.fails('get', 'deployment', 'nope')).toBe(
      'Error from server (NotFound): deployments.apps "nope" not found',
    );
    expect(await kubectl.run('get', 'deployment', 'nope', '--ignore-not-found')).toBe('');
    expect(await kubectl.run('describe', 'deployment', 'web')).toMatch(
      /^Name: +web\n[\s\S]*StrategyType: +RollingUpdate/,
    );
  });

  test('many things at once', async () => {
    const seen = (
      await kubectl.run('get', 'all', '-o', 'jsonpath={range .items[*]}{.kind} {.metadata.uid}{"\\n"}{end}')
    ).split('\n');
    expect(seen).toEqual([...new Set(seen)]);
    const names = await kubectl.lines('get', 'all', '-o', 'name');
    expect(names).toEqual(expect.arrayContaining(['deployment.apps/api', 'deployment.apps/web']));
    expect(names.filter((name) => name.includes('.extensions/'))).toEqual([]);
    expect(await kubectl.run('get', 'deploy,rs,cm', '-A', '-o', 'name')).toContain('configmap/kube-root-ca.crt');
  });

  test('pages', async () => {
    const maps = Array.from({ length: 7 }, (_, at) => configMap(`page-${at}`, {}, { pages: 'yes' }));
    await kubectl.run('create', '-f', await kubectl.file('pages.json', maps));
    const all = await kubectl.lines('get', 'cm', '-l', 'pages=yes', '--no-headers');
    expect(all).toHaveLength(7);
    const paged = await kubectl.outcome('get', 'cm', '-l', 'pages=yes', '--chunk-size=2', '-o', 'name', '-v=6');
    expect(paged.stdout.trim().split('\n')).toHaveLength(7);
    expect(paged.stderr.match(/continue=/g)).toHaveLength(3);
  });

  test('watches, in columns and in whole', async () => {
    const only = ['--field-selector=metadata.name=seen', '--watch'];
    const table = kubectl.follow('get', 'cm', ...only);
    const events = kubectl.follow('get', 'cm', ...only, '--output-watch-events', '--no-headers');
    try {
      await kubectl.run('create', 'configmap', 'seen');
      expect([await table.next(), await table.next()]).toEqual(['NAME DATA AGE', expect.stringMatching(/^seen 0 /)]);
      await kubectl.run('patch', 'cm/seen', '-p', '{"data":{"a":"1"}}');
      expect(await table.next()).toMatch(/^seen 1 /);
      await kubectl.run('delete', 'cm/seen');
      const types: string[] = [];
      while (types.length < 3) types.push((await events.next()).split(' ')[0]!);
      expect(types).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
    } finally {
      table.stop();
      events.stop();
    }
  });

  test('schemas', async () => {
    expect(await kubectl.run('explain', 'pod.spec.containers.image')).toMatch(/FIELD: +image <string>/);
    const tree = await kubectl.run('explain', 'deployments', '--recursive');
    expect(tree).toMatch(/\bspec\t<\w+>[\s\S]* +replicas\t<integer>/);
    const old = await kubectl.run('explain', 'deployment.spec.rollbackTo', '--api-version=extensions/v1beta1');
    expect(old).toMatch(/revision\t<integer>/);
    expect(await kubectl.fails('explain', 'deployment.spec.nope')).toMatch(/does not exist/);
    if (!kubectl.isNewest) return;
    const flags = ['--output=plaintext-openapiv2', '--recursive'];
    expect(await kubectl.run('explain', 'deployment.spec', ...flags)).toMatch(/replicas\t<integer>/);
  });

  test('resources and versions', async () => {
    const names = (await kubectl.run('api-resources', '-o', 'name')).split('\n');
    expect(names).toEqual(expect.arrayContaining(['pods', 'deployments.apps', 'leases.coordination.k8s.io']));
    const listed = await kubectl.lines('api-resources', '--namespaced=false', '--verbs=list', '--no-headers');
    expect(listed).toContain('nodes no v1 false Node');
    expect(await kubectl.lines('api-versions')).toEqual(
      expect.arrayContaining(['v1', 'apps/v1', 'apps/v1beta1', 'extensions/v1beta1', 'batch/v1beta1']),
    );
    expect(await kubectl.run('cluster-info')).toContain(kubectl.qd.origin);
    expect(await kubectl.run('version', '-o', 'json')).toContain('+quarterdeck');
    expect(await kubectl.run('get', '--raw', '/readyz')).toBe('ok');
    expect((await kubectl.outcome('get', 'cs', '-o', 'name')).stdout).toContain('componentstatus/etcd-0');
    expect(await kubectl.fails('top', 'nodes')).toContain('metrics not available yet');
  });
});
