/** Tests the program's reports on itself and on request bodies, with kubectl and other clients. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasKubectl, kubectlProgram } from './kubectl.ts';
import { type Qd, startQd } from './program.ts';

let qd: Qd;
let home: string;
beforeAll(async () => {
  qd = await startQd();
  home = await mkdtemp(join(tmpdir(), 'qd-strictness-'));
});
afterAll(async () => {
  await qd?.stop();
  await rm(home, { recursive: true, force: true });
});

const MAPS = '/api/v1/namespaces/default/configmaps';

test('fields that are unknown or stand twice are warned about, rejected or ignored', async () => {
  const body = '{"metadata":{"name":"m","name":"strict"},"data":{"a":"b"},"dta":{}}';
  const faults = ['duplicate field "metadata.name"', 'unknown field "dta"'];
  const strict = await qd.request('POST', `${MAPS}?fieldValidation=Strict`, { body });
  expect([strict.code, strict.body.message]).toEqual([
    400,
    `ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: ${faults.join(', ')}`,
  ]);
  const warned = await qd.request('POST', MAPS, { body });
  expect(warned.headers.warning).toBe('299 - "duplicate field \\"metadata.name\\"", 299 - "unknown field \\"dta\\""');
  const patch = { body: { dta: {} }, type: 'application/merge-patch+json' };
  const ignored = await qd.request('PATCH', `${MAPS}/strict?fieldValidation=Ignore`, patch);
  expect([ignored.code, ignored.headers.warning]).toEqual([200, undefined]);
  expect((await qd.request('PATCH', `${MAPS}/strict?fieldValidation=Strict`, patch)).code).toBe(422);
  const yaml = 'metadata: {name: twice}\ndata: {a: b}\ndata: {a: c}\n';
  const twice = await qd.request('POST', `${MAPS}?fieldValidation=Strict`, { body: yaml, type: 'application/yaml' });
  expect(twice.body.message).toContain('strict decoding error: duplicate field "data"');
});

test('older versions are warned about', async () => {
  const { headers } = await qd.request('GET', '/apis/apps/v1beta1/namespaces/default/deployments');
  expect(headers.warning).toBe(
    '299 - "apps/v1beta1 Deployment is deprecated in v1.8+, unavailable in v1.16+; use apps/v1 Deployment"',
  );
});

test('discovery comes in one document, once', async () => {
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';
  const { body, headers } = await qd.request('GET', '/apis', { headers: { accept } });
  const names = body.items.map((item: any) => item.metadata.name);
  expect(names).toContain('apps');
  expect(names.at(-1)).toBe('extensions');
  const again = { accept, 'if-none-match': String(headers.etag) };
  expect((await qd.request('GET', '/apis', { headers: again })).code).toBe(304);
});

test('health, metrics and the version are there', async () => {
  const ready = await qd.request('GET', '/readyz?verbose&exclude=ping');
  expect(ready.text).toMatch(/^\[\+\]ping excluded: ok\n\[\+\]log ok\n\[\+\]etcd ok\n\[\+\]informer-sync ok\n/);
  for (const name of ['rbac/bootstrap-roles', 'crd-informer-synced', 'bootstrap-controller', 'start-controllers']) {
    expect(ready.text).toContain(`[+]poststarthook/${name} ok\n`);
    expect((await qd.request('GET', `/readyz/poststarthook/${name}`)).text).toBe('ok');
  }
  expect(ready.text).toMatch(/\[\+\]shutdown ok\nreadyz check passed\n$/);
  expect((await qd.request('GET', '/livez/etcd')).text).toBe('ok');
  const { text } = await qd.request('GET', '/metrics');
  expect(text).toMatch(/^etcd_request_duration_seconds_count\{.*\} [1-9]/m);
  expect(text).toMatch(/^process_resident_memory_bytes [1-9]/m);
  const slis = (await qd.request('GET', '/metrics/slis')).text;
  expect(slis).toContain('kubernetes_healthcheck{name="etcd",type="readyz"} 1\n');
  expect(slis).toMatch(/^kubernetes_healthchecks_total\{name="etcd",status="success",type="readyz"\} [1-9]/m);
  const { body } = await qd.request('GET', '/version');
  expect(Object.values(body).every((value) => typeof value === 'string' && value !== '')).toBe(true);
});

describe.skipIf(!hasKubectl)('kubectl', () => {
  const kubectl = (...args: string[]) =>
    promisify(execFile)(kubectlProgram, args, { env: { ...process.env, HOME: home, KUBECONFIG: qd.kubeconfig } });

  test('lists versions and resources without a complaint', async () => {
    const versions = await kubectl('api-versions');
    expect(versions.stdout.split('\n')).toEqual(expect.arrayContaining(['v1', 'apps/v1', 'extensions/v1beta1']));
    const resources = await kubectl('api-resources', '--verbs=list', '--no-headers');
    expect(resources.stdout).toMatch(/^deployments +deploy +apps\/v1 +true +Deployment$/m);
    expect(resources.stderr).toBe('');
  });

  test('validates itself, or leaves it to the server', async () => {
    const file = join(home, 'map.yaml');
    await writeFile(file, 'kind: ConfigMap\napiVersion: v1\nmetadata: {name: k, lables: {}}\n');
    await expect(kubectl('create', '--validate=true', '-f', file)).rejects.toMatchObject({
      stderr: expect.stringContaining('unknown field "lables"'),
    });
    const made = await kubectl('create', '--validate=false', '-f', file);
    expect(made).toEqual({ stdout: 'configmap/k created\n', stderr: 'Warning: unknown field "metadata.lables"\n' });
  });
});
