/** History and undo with the built program: across a restart, on every durable store, and with kubectl. */
import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Backend,
  backendMissing,
  durableStores,
  startBackend,
  storeArguments,
} from '../support/store/backends.ts';
import { hasKubectl, kubectlProgram } from './kubectl.ts';
import { newDirectory, type Qd, runQd, startQd } from './program.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const SECRETS = '/api/v1/namespaces/default/secrets';
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
const ROLES = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';

const web = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
};
const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { color: 'red' } };
const joe = { 'impersonate-user': 'joe', 'impersonate-group': 'system:authenticated' };

describe.sequential.each(durableStores)('on %s', (store) => {
  const missing = backendMissing(store);
  if (missing) console.log(missing);
  describe.skipIf(missing !== undefined).sequential('in order', () => {
    let directory: string;
    let backend: Backend;
    let qd: Qd;
    const start = async () => {
      qd = await startQd({ directory, flags: storeArguments(store, backend.settings) });
    };
    const run = async (...args: string[]) => {
      const ran = await runQd([...args, '--kubeconfig', qd.kubeconfig]);
      return { ...ran, text: ran.stdout + ran.stderr };
    };
    const request: Qd['request'] = async (...asked) => {
      const answer = await qd.request(...asked);
      expect([asked[1], answer.code, answer.text]).toEqual([asked[1], 200, answer.text]);
      return answer;
    };
    const now = async () => (await request('GET', '/history')).body.newest.resourceVersion as string;

    beforeAll(async () => {
      directory = await newDirectory();
      backend = await startBackend(store);
      await start();
      // The first start records what there is before it records changes.
      while (!(await qd.request('GET', '/metrics')).text.includes('history_oldest')) await setImmediate();
    });
    afterAll(async () => {
      await qd?.stop();
      await backend?.remove();
      await rm(directory, { recursive: true, force: true });
    });

    test('who changed what is known after a restart', async () => {
      const patch = { type: 'application/merge-patch+json' };
      await request('POST', MAPS, { body: settings });
      const headers = { 'user-agent': 'editor/1.0', 'audit-id': 'request-1' };
      await request('PATCH', `${MAPS}/settings`, { ...patch, headers, body: { data: { color: 'blue' } } });
      await request('POST', SECRETS, { body: { metadata: { name: 'key' }, stringData: { password: 'xyzzy' } } });
      const before = await now();
      await request('DELETE', `${MAPS}/settings`);
      await qd.stop();
      await start();
      const { stdout } = await run('history', 'configmap', 'settings');
      const lines = stdout.trimEnd().split('\n');
      expect(lines[0]).toMatch(/ deleted by \S+, version \d+ /);
      expect(lines.slice(1, 4)).toEqual([
        expect.stringMatching(
          / updated by \S+, version \d+ \(manager editor, client editor\/1.0, request request-1\)$/,
        ),
        '  - data.color: "red"',
        '  + data.color: "blue"',
      ]);
      expect(lines[4]).toMatch(/ created by /);
      expect((await run('get', 'configmap', 'settings', '--at', before, '-o', 'json')).stdout).toContain('"blue"');
      expect((await run('get', 'configmaps', '--at', before)).stdout).toContain('settings');
    });

    test('a deletion from before the restart can be undone', async () => {
      const { text, code } = await run('undo', 'configmap', 'settings', '--yes');
      expect([text, code]).toEqual([expect.stringContaining('created again'), 0]);
      expect((await request('GET', `${MAPS}/settings`)).body.data).toEqual({ color: 'blue' });
      await run('undo', 'configmap', 'settings', '--yes');
      expect((await request('GET', `${MAPS}/settings`)).body.data).toEqual({ color: 'red' });
    });

    test.skipIf(!hasKubectl)('kubectl delete -f of the wrong directory is undone with one command', async () => {
      const files = join(directory, 'manifests');
      await mkdir(files);
      const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'maps' } };
      const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] }];
      const manifests = [web, settings, { ...role, rules }];
      for (const [index, manifest] of manifests.entries()) {
        await writeFile(join(files, `${index}.json`), JSON.stringify(manifest));
      }
      const kubectl = (...args: string[]) =>
        promisify(execFile)(kubectlProgram, ['--kubeconfig', qd.kubeconfig, ...args]);
      await kubectl('apply', '-f', files);
      const before = await now();
      await kubectl('delete', '-f', files);
      const plan = await run('undo', '--all', '--since', before, '-n', 'default', '--dry-run');
      for (const each of ['configmap/settings', 'deployment.apps/web', 'role.rbac.authorization.k8s.io/maps']) {
        expect(plan.text).toContain(`create again ${each} in default`);
      }
      expect((await qd.request('GET', `${DEPLOYMENTS}/web`)).code).toBe(404);
      const done = await run('undo', '--all', '--since', before, '-n', 'default', '--yes');
      expect([done.text, done.code]).toEqual([
        expect.stringMatching(/^created again: 3, changed back: 0, deleted: 0$/m),
        0,
      ]);
      const { body } = await request('GET', `${DEPLOYMENTS}/web`);
      expect(body.spec.template.spec.containers[0].image).toBe('i');
      expect((await kubectl('diff', '-f', files)).stdout).toBe('');
      expect((await run('undo', '--all', '--since', before, '--yes', '-n', 'default')).text).toContain(
        'nothing to undo',
      );
    });

    test('users read the history of what they may get, and no other', async () => {
      const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] }];
      await request('POST', `${ROLES}/roles`, { body: { metadata: { name: 'readers' }, rules } });
      const subjects = [{ kind: 'User', name: 'joe', apiGroup: 'rbac.authorization.k8s.io' }];
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'readers' };
      await request('POST', `${ROLES}/rolebindings`, { body: { metadata: { name: 'readers' }, subjects, roleRef } });
      await request('GET', `/history${MAPS}/settings`, { headers: joe });
      expect((await qd.request('GET', `/history${SECRETS}/key`, { headers: joe })).code).toBe(403);
      expect((await qd.request('GET', `/history${SECRETS}?at=${await now()}`, { headers: joe })).code).toBe(403);
      const { body } = await request('GET', '/history/changes', { headers: joe });
      expect(new Set(body.items.map(({ resource }: any) => resource))).toEqual(new Set(['configmaps']));
      expect((await qd.request('DELETE', '/history?all=true', { headers: joe })).code).toBe(403);
      const secret = await request('GET', `/history${SECRETS}/key`);
      expect(secret.body.items[0].object.data.password).toBe(Buffer.from('xyzzy').toString('base64'));
    });

    test('administrators delete history', async () => {
      const { text } = await run('history', 'purge', 'secrets', 'key', '-n', 'default', '--yes');
      expect(text).toMatch(/^deleted: \d+ changes, \d+ bytes$/m);
      expect((await run('history', 'configmap', 'settings')).stdout).toContain(' deleted by ');
      await run('history', 'purge', '--all', '--yes');
      expect((await run('history', 'configmap', 'settings')).stdout).not.toContain(' deleted by ');
      expect((await run('get', 'configmap', 'settings', '--at', '1')).text).toContain('does not reach that far');
      await request('GET', `${SECRETS}/key`);
    });
  });
});
