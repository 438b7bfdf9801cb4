/** Tests kubectl's tables: the columns come from the server. */
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allKinds } from '../../src/kinds/all.ts';
import { defaultColumns } from '../../src/kinds/columns/column.ts';
import { hasKubectl, kubectlProgram } from './kubectl.ts';
import { type Qd, startQd } from './program.ts';

const root = join(import.meta.dirname, '..', '..');

describe.skipIf(!hasKubectl)('kubectl get', () => {
  let qd: Qd;
  let home: string;
  const env = () => ({ ...process.env, HOME: home, KUBECONFIG: qd.kubeconfig });

  /** Returns its output in lines; its discovery cache goes to a folder of this run. */
  async function get(...args: string[]): Promise<string[]> {
    const { stdout } = await promisify(execFile)(kubectlProgram, ['get', ...args], { cwd: root, env: env() });
    return stdout.trimEnd().split('\n');
  }

  /** A line, with one space for each gap. */
  const words = (line: string | undefined) => (line ?? '').trim().replace(/ {2,}/g, ' ');

  beforeAll(async () => {
    qd = await startQd({ flags: ['--controllers', 'namespace,service-account,root-ca'] });
    home = await mkdtemp(join(tmpdir(), 'qd-tables-'));
    const apply = ['apply', '-f', 'examples/first-walk'];
    await promisify(execFile)(kubectlProgram, apply, { cwd: root, env: env() });
  });
  afterAll(async () => {
    await qd?.stop();
    if (home) await rm(home, { recursive: true, force: true });
  });

  test('pods, narrow and wide', async () => {
    const [head, row] = await get('pods', '-n', 'shop');
    expect(words(head)).toBe('NAME READY STATUS RESTARTS AGE');
    expect(words(row)).toMatch(/^hello 0\/1 Pending 0 \d+s$/);
    const [wideHead, wideRow] = await get('pods', '-n', 'shop', '-o', 'wide');
    expect(words(wideHead)).toBe('NAME READY STATUS RESTARTS AGE IP NODE NOMINATED NODE READINESS GATES');
    expect(words(wideRow)).toMatch(/^hello 0\/1 Pending 0 \d+s <none> <none> <none> <none>$/);
  });

  test('one object, in any version', async () => {
    for (const resource of ['deployments.v1.apps', 'deployments.v1beta2.apps', 'deployments.v1beta1.extensions']) {
      const [head, row] = await get(`${resource}/web`, '-n', 'shop', '-o', 'wide');
      expect(words(head)).toBe('NAME READY UP-TO-DATE AVAILABLE AGE CONTAINERS IMAGES SELECTOR');
      expect(words(row)).toMatch(/^web 0\/3 0 0 \d+s \S+ \S+ app=web$/);
    }
  });

  test('all', async () => {
    const lines = (await get('all', '-n', 'shop')).map(words);
    expect(lines).toEqual(
      expect.arrayContaining([
        'NAME READY STATUS RESTARTS AGE',
        'NAME TYPE CLUSTER-IP EXTERNAL-IP PORT(S) AGE',
        expect.stringMatching(/^service\/web ClusterIP 10\.96\.\d+\.\d+ <none> 80\/TCP \d+s$/),
        'NAME READY UP-TO-DATE AVAILABLE AGE',
        expect.stringMatching(/^deployment\.apps\/web 0\/3 0 0 \d+s$/),
        'NAME SCHEDULE TIMEZONE SUSPEND ACTIVE LAST SCHEDULE AGE',
        expect.stringMatching(/^cronjob\.batch\/report \*\/15 \* \* \* \* <none> False 0 <none> \d+s$/),
      ]),
    );
  });

  test('with labels, sorted, in pages, and without a head', async () => {
    const [head, row] = await get('pods', '-A', '--show-labels', '-L', 'app');
    expect(words(head)).toBe('NAMESPACE NAME READY STATUS RESTARTS AGE APP LABELS');
    expect(words(row)).toMatch(/^shop hello 0\/1 Pending 0 \d+s hello app=hello/);
    const sorted = await get('namespaces', '--sort-by=.metadata.creationTimestamp', '--no-headers');
    expect(words(sorted.at(-1))).toMatch(/^shop Active \d+s$/);
    expect(await get('namespaces', '--chunk-size=1', '--no-headers')).toHaveLength(sorted.length);
  });

  test('columns of the client’s own', async () => {
    const columns = 'custom-columns=NAME:.metadata.name,WANTED:.spec.replicas';
    expect((await get('deployments', '-n', 'shop', '-o', columns)).map(words)).toEqual(['NAME WANTED', 'web 3']);
  });

  test('what changes, with one head', async () => {
    const watching = spawn(kubectlProgram, ['get', 'configmaps', '--watch', '--field-selector=metadata.name=seen'], {
      env: env(),
    });
    try {
      const lines = createInterface({ input: watching.stdout })[Symbol.asyncIterator]();
      const path = '/api/v1/namespaces/default/configmaps';
      await qd.request('POST', path, { body: { metadata: { name: 'seen' } } });
      expect(words((await lines.next()).value)).toBe('NAME DATA AGE');
      expect(words((await lines.next()).value)).toMatch(/^seen 0 \d+s$/);
      await qd.request('PUT', `${path}/seen`, { body: { metadata: { name: 'seen' }, data: { a: '1' } } });
      expect(words((await lines.next()).value)).toMatch(/^seen 1 \d+s$/);
    } finally {
      watching.kill();
    }
  });

  const listed = allKinds.filter(({ verbs }) => !verbs || verbs.includes('list'));
  test('every kind, in the columns that it has', async () => {
    for (const { kind, group, plural, hub, columns = defaultColumns } of listed) {
      const path = `${group ? `/apis/${hub.apiVersion}` : '/api/v1'}/${plural}`;
      const headers = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
      const { code, body } = await qd.request('GET', path, { headers });
      expect([kind, code]).toEqual([kind, 200]);
      const names = body.columnDefinitions.map(({ name }: any) => name);
      expect(names).toEqual(columns.map(({ name }) => name));
    }
  });
});
