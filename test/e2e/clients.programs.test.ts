/** Clients that other people wrote, with the kubeconfig that the program writes. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AppsV1Api, CoreV1Api, KubeConfig, PatchStrategy, setHeaderOptions, Watch } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasKubectl, kubectlProgram } from './kubectl.ts';
import { type Qd, startQd } from './program.ts';

const root = join(import.meta.dirname, '..', '..');

let qd: Qd;
let home: string;
beforeAll(async () => {
  qd = await startQd();
  home = await mkdtemp(join(tmpdir(), 'qd-clients-'));
});
afterAll(async () => {
  await qd?.stop();
  await rm(home, { recursive: true, force: true });
});

describe.skipIf(!hasKubectl)('kubectl', () => {
  /** Runs kubectl, whose discovery cache goes to a folder of this run. */
  const kubectl = async (...args: string[]) => {
    const env = { ...process.env, HOME: home, KUBECONFIG: qd.kubeconfig };
    const { stdout } = await promisify(execFile)(kubectlProgram, args, { cwd: root, env });
    return stdout.trim();
  };

  test('finds the server and what it serves', async () => {
    expect(await kubectl('version')).toContain('+quarterdeck');
    const resources = await kubectl('api-resources', '-o', 'name');
    for (const name of ['pods', 'services', 'deployments.apps', 'cronjobs.batch', 'leases.coordination.k8s.io']) {
      expect(resources.split('\n')).toContain(name);
    }
  });

  test('makes the first walk, twice, and takes it away again', async () => {
    const apply = () => kubectl('apply', '-f', 'examples/first-walk');
    const made = await apply();
    expect(made.split('\n')).toEqual(expect.arrayContaining(['namespace/shop created', 'deployment.apps/web created']));
    expect((await apply()).split('\n')).toEqual(expect.arrayContaining(['deployment.apps/web unchanged']));
    expect(await kubectl('-n', 'shop', 'get', 'svc', 'web', '-o', 'jsonpath={.spec.clusterIP}')).toMatch(/^10\.96\./);
    expect(await kubectl('-n', 'shop', 'get', 'deploy,cm,cronjob', '-o', 'name')).toContain('deployment.apps/web');
    await kubectl('delete', 'namespace', 'shop', '--wait=true', '--timeout=20s');
    expect(await kubectl('get', 'all', '-n', 'shop', '-o', 'name')).toBe('');
  });

  test('creates, labels, scales, patches, replaces and deletes', async () => {
    await kubectl('create', 'namespace', 'hands-on');
    const inside = (...args: string[]) => kubectl('-n', 'hands-on', ...args);
    await inside('create', 'deployment', 'web', '--image=nginx:1.27');
    await inside('scale', 'deployment/web', '--replicas=4');
    expect(await inside('get', 'deployment/web', '-o', 'jsonpath={.spec.replicas}')).toBe('4');
    await inside('set', 'image', 'deployment/web', 'nginx=nginx:1.28');
    await inside('label', 'deployment/web', 'tier=front');
    await inside('patch', 'deployment/web', '-p', '{"spec":{"paused":true}}');
    const shown = await inside('get', 'deployments', '-l', 'tier=front', '-o', 'jsonpath={.items[0].spec}');
    expect(JSON.parse(shown)).toMatchObject({
      paused: true,
      template: { spec: { containers: [{ image: 'nginx:1.28' }] } },
    });
    await inside('create', 'configmap', 'settings', '--from-literal=a=1');
    await inside('create', 'secret', 'generic', 'password', '--from-literal=p=secret');
    await inside('delete', 'deployment/web', 'configmap/settings', 'secret/password');
    await expect(inside('get', 'deployment/web')).rejects.toMatchObject({
      stderr: expect.stringContaining('Error from server (NotFound): deployments.apps "web" not found'),
    });
  });

  test('follows changes', async () => {
    const env = { ...process.env, HOME: home, KUBECONFIG: qd.kubeconfig };
    const watching = execFile(
      kubectlProgram,
      ['get', 'cm', '-w', '-o', 'name', '--field-selector=metadata.name=seen'],
      {
        env,
      },
    );
    const seen = new Promise((resolve) => watching.stdout?.once('data', (chunk) => resolve(String(chunk).trim())));
    await kubectl('create', 'configmap', 'seen');
    expect(await seen).toBe('configmap/seen');
    watching.kill();
  });

  test("uses the token of a namespace's default service account", async () => {
    await kubectl('create', 'namespace', 'tokens');
    const path = 'jsonpath={.secrets[0].name}';
    const named = async () => kubectl('-n', 'tokens', 'get', 'sa', 'default', '-o', path).catch(() => '');
    await expect.poll(named).toMatch(/^default-token-/);
    const token = ['get', 'secret', await named(), '-o', 'jsonpath={.data.token}'];
    await expect.poll(() => kubectl('-n', 'tokens', ...token)).not.toBe('');
    const bearer = Buffer.from(await kubectl('-n', 'tokens', ...token), 'base64').toString();
    const flags = [
      '--kubeconfig=/dev/null',
      `--server=${qd.origin}`,
      '--insecure-skip-tls-verify',
      `--token=${bearer}`,
    ];
    await expect(kubectl(...flags, 'get', 'ns', 'tokens', '-o', 'name')).rejects.toMatchObject({
      stderr: expect.stringContaining('User "system:serviceaccount:tokens:default" cannot get resource "namespaces"'),
    });
    const whom = '--serviceaccount=tokens:default';
    await kubectl('-n', 'tokens', 'create', 'rolebinding', 'v', '--clusterrole=view', whom);
    expect(await kubectl(...flags, 'get', 'ns', 'tokens', '-o', 'name')).toBe('namespace/tokens');
    await expect(kubectl(...flags.slice(0, 3), '--token=ey.wrong.one', 'get', 'ns')).rejects.toMatchObject({
      stderr: expect.stringContaining('Unauthorized'),
    });
  });
});

describe('the official JavaScript client', () => {
  const config = () => {
    const loaded = new KubeConfig();
    loaded.loadFromFile(qd.kubeconfig);
    return loaded;
  };

  test('reads, writes, patches and deletes with the kubeconfig', async () => {
    const core = config().makeApiClient(CoreV1Api);
    const apps = config().makeApiClient(AppsV1Api);
    await core.createNamespace({ body: { metadata: { name: 'js' } } });
    const labels = { app: 'web' };
    const body = {
      metadata: { name: 'web' },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'nginx' }] } },
      },
    };
    const made = await apps.createNamespacedDeployment({ namespace: 'js', body });
    expect(made.spec?.replicas).toBe(1);
    const patched = await apps.patchNamespacedDeployment(
      { name: 'web', namespace: 'js', body: { spec: { replicas: 2 } } },
      setHeaderOptions('Content-Type', PatchStrategy.StrategicMergePatch),
    );
    expect(patched.spec?.replicas).toBe(2);
    expect((await apps.listNamespacedDeployment({ namespace: 'js' })).items).toHaveLength(1);
    await apps.deleteNamespacedDeployment({ name: 'web', namespace: 'js' });
    await expect(apps.readNamespacedDeployment({ name: 'web', namespace: 'js' })).rejects.toMatchObject({ code: 404 });
  });

  test('watches', async () => {
    const core = config().makeApiClient(CoreV1Api);
    const names: string[] = [];
    let stop: AbortController | undefined;
    const done = new Promise<void>((resolve, reject) => {
      const onEvent = (type: string, object: { metadata: { name: string } }) => {
        names.push(`${type} ${object.metadata.name}`);
        if (type === 'DELETED') resolve();
      };
      const path = '/api/v1/namespaces/default/configmaps';
      new Watch(config()).watch(path, { fieldSelector: 'metadata.name=js' }, onEvent, reject).then((started) => {
        stop = started;
      }, reject);
    });
    await core.createNamespacedConfigMap({ namespace: 'default', body: { metadata: { name: 'js' } } });
    await core.deleteNamespacedConfigMap({ namespace: 'default', name: 'js' });
    await done;
    stop?.abort();
    expect(names).toEqual(['ADDED js', 'DELETED js']);
  });
});
