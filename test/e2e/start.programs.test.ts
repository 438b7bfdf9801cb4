/** Tests the result of a start, the memory of the next start, and nodes that are left out of it. */
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newDirectory, type Qd, runQd, runUntilReady, startQd } from './program.ts';

const NODES = '/api/v1/nodes';
const PODS = '/api/v1/namespaces/default/pods';
const SECRETS = '/api/v1/namespaces/default/secrets';

let directory: string;
const running: Qd[] = [];

async function prepare(): Promise<void> {
  directory = await newDirectory();
}

async function cleanUp(): Promise<void> {
  await Promise.all(running.splice(0).map((qd) => qd.stop('SIGKILL')));
  await rm(directory, { recursive: true, force: true });
}

function eachPrepared(): void {
  beforeEach(prepare);
  afterEach(cleanUp);
}

/** Environment of a user of this machine without a kubeconfig. */
const home = () => ({ HOME: directory, KUBECONFIG: '' });
const up = (...flags: string[]) => runUntilReady(['--port', '0', ...flags], home());

async function start(...flags: string[]): Promise<Qd> {
  const qd = await startQd({ directory, flags });
  running.push(qd);
  return qd;
}

/** Starts on the data directory of `start` with exactly these flags. */
const again = (...flags: string[]) =>
  runUntilReady(['--data-dir', join(directory, 'data'), '--kubeconfig', join(directory, 'kubeconfig'), ...flags]);

const readiness = ({ status }: any) => status.conditions.find(({ type }: any) => type === 'Ready')?.status;
const readinessOfAll = async (qd: Qd) =>
  Object.fromEntries(
    (await qd.request('GET', NODES)).body.items.map((node: any) => [node.metadata.name, readiness(node)]),
  );

describe('a start without flags, except for the runtime', () => {
  let said: string;
  beforeAll(async () => {
    await prepare();
    said = await up();
  });
  afterAll(cleanUp);

  test('has one node, and says that it is simulated', () => {
    expect(said).toMatch(/^nodes +quarterdeck-node-1, simulated: pods are not really run \(\d+ ms\)$/m);
    expect(said).toContain('kubectl --context quarterdeck create deployment hello --image=nginx');
  });

  test('shows a count of controllers, not their names', async () => {
    expect(said).toMatch(/^controllers +\d\d, and the scheduler \(\d+ ms\)$/m);
    expect(await up('--controllers', 'namespace,root-ca')).toMatch(/^controllers +2 of \d\d, no scheduler \(/m);
  });

  test('switches no context of the kubeconfig of the user when that was empty', () => {
    expect(said).not.toContain('switched');
  });
});

describe('a start with a node', () => {
  eachPrepared();

  test('schedules pods', async () => {
    const qd = await start('--nodes', '1');
    const spec = { containers: [{ name: 'c', image: 'nginx' }] };
    await qd.request('POST', PODS, { body: { metadata: { name: 'one' }, spec } });
    const pod = await qd.until(PODS, ({ status }) => status.phase === 'Running');
    expect(pod.spec.nodeName).toBe('quarterdeck-node-1');
  });
});

describe('the next start', () => {
  eachPrepared();

  test('has the same runtime, nodes, rules and pod addresses, also by a path relative to another working directory', async () => {
    const rules = join(directory, 'rules.yaml');
    await writeFile(rules, 'nodes: [{ labels: { tier: gold } }]\n');
    const relative = join('..', '..', '..', '..', '..', '..', '..', '..', rules);
    await (
      await start('--runtime', 'simulated', '--nodes', '2', '--simulation', relative, '--cluster-cidr', '10.9.0.0/16')
    ).stop();
    expect(JSON.parse(await readFile(join(directory, 'data', 'cluster.json'), 'utf8'))).toMatchObject({
      ...{ runtime: 'simulated', nodes: 2, simulation: rules, clusterCidr: '10.9.0.0/16' },
    });
    expect(await again()).toMatch(/^nodes +2, simulated/m);
  });

  test('says how to drop a remembered file of rules that is gone', async () => {
    const rules = join(directory, 'rules.yaml');
    await writeFile(rules, 'nodes: []\n');
    await (await start('--nodes', '1', '--simulation', rules)).stop();
    await rm(rules);
    expect(await again()).toMatch(/qd: --simulation \S+rules.yaml cannot be used: .*--simulation "" /);
    expect(await again('--simulation', '')).toMatch(/^nodes +quarterdeck-node-1, simulated/m);
    expect(await again()).toMatch(/^nodes +quarterdeck-node-1, simulated/m);
  });

  test('uses the same encryption keys, and so do other commands', async () => {
    const file = join(directory, 'keys');
    const first = await start('--encryption-key-file', file);
    const body = { metadata: { name: 'one' }, stringData: { a: 'b' } };
    expect((await first.request('POST', SECRETS, { body })).code).toBe(200);
    await first.stop();
    const second = await start();
    expect((await second.request('GET', `${SECRETS}/one`)).body.data).toEqual({ a: 'Yg==' });
    expect(existsSync(join(directory, 'data', 'encryption.key'))).toBe(false);
    const shown = await runQd(['encryption', 'show', '--data-dir', join(directory, 'data')]);
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[0-9a-f]{8} {2}current\n$/) });
    await second.stop();
    const other = join(directory, 'other-keys');
    const rejected = await again('--encryption-key-file', other);
    expect(rejected).toMatch(/qd: .* encrypted with the key [0-9a-f]{8}, which is not in the key file/);
    expect(existsSync(other), 'no key was created that decrypts nothing').toBe(false);
  });
});

describe('a node that is left out', () => {
  eachPrepared();

  test('is named, and is not ready although no controller marks it', async () => {
    await (await start('--nodes', '3')).stop('SIGKILL');
    const qd = await start('--nodes', '1', '--controllers', 'namespace');
    expect(qd.output()).toMatch(/left out: quarterdeck-node-2, quarterdeck-node-3/);
    expect(await readinessOfAll(qd)).toEqual({
      ...{ 'quarterdeck-node-1': 'True', 'quarterdeck-node-2': 'Unknown', 'quarterdeck-node-3': 'Unknown' },
    });
    await qd.stop();
    const none = await start('--nodes', '0');
    expect(none.output()).toMatch(/left out: quarterdeck-node-1, quarterdeck-node-2, quarterdeck-node-3/);
    expect(Object.values(await readinessOfAll(none))).toEqual(['Unknown', 'Unknown', 'Unknown']);
    await none.stop();
    const all = await start('--nodes', '3');
    expect(all.output()).not.toContain('left out');
    await all.until(NODES, (node) => node.metadata.name === 'quarterdeck-node-3' && readiness(node) === 'True');
  });

  test('takes no pods, and its own are not ready', async () => {
    const first = await start('--nodes', '2');
    const spec = { nodeName: 'quarterdeck-node-2', containers: [{ name: 'c', image: 'nginx' }] };
    await first.request('POST', PODS, { body: { metadata: { name: 'one' }, spec } });
    await first.until(PODS, (pod) => readiness({ status: { conditions: [], ...pod.status } }) === 'True');
    await first.stop();
    const second = await start('--nodes', '1');
    await second.until(NODES, ({ spec }) =>
      spec.taints?.some(({ key }: any) => key === 'node.kubernetes.io/unreachable'),
    );
    await second.until(PODS, (pod) => readiness(pod) === 'False');
  });
});

describe('the kubeconfig of the user', () => {
  eachPrepared();

  const config = (current: string) =>
    `apiVersion: v1\nkind: Config\ncontexts:\n- name: ${current}\n  context: {cluster: c, user: u}\ncurrent-context: ${current}\n`;

  test('is switched to a new cluster, which is said with how to go back', async () => {
    await mkdir(join(directory, '.kube'));
    await writeFile(join(directory, '.kube', 'config'), config('work'));
    const said = await up('--name', 'dev');
    expect(said).toContain('kubectl context switched from "work" to "dev"');
    expect(said).toContain('kubectl config use-context work');
    expect(await up('--name', 'dev'), 'the second start switches nothing').not.toContain('switched');
  });

  test('that KUBECONFIG names and that is missing is created, which is said', async () => {
    const file = join(directory, 'folder', 'mine.yaml');
    const env = { HOME: directory, KUBECONFIG: file };
    expect(await runUntilReady(['--port', '0'], env)).toContain(`${file}, which KUBECONFIG names, was created`);
    expect(await readFile(file, 'utf8')).toContain('current-context: quarterdeck');
    expect(await runUntilReady(['--port', '0'], env)).not.toContain('was created');
  });

  test.each([
    ['token', 'list'],
    ['explain-pod', 'web'],
    ['proxy', '--port', '0'],
  ])('that is missing is named by qd %s', async (...command) => {
    const missing = join(directory, 'missing');
    const line = async (env: NodeJS.ProcessEnv, ...flags: string[]) => {
      const { code, stderr } = await runQd([...command, ...flags], { env: { HOME: directory, ...env } });
      expect(code).toBe(1);
      return stderr;
    };
    expect(await line({ KUBECONFIG: missing })).toBe(
      `qd: ${missing}, which KUBECONFIG names, does not exist; qd up creates it, and --kubeconfig FILE names another\n`,
    );
    expect(await line({ KUBECONFIG: `${missing}:${missing}2` })).toContain(
      `none of the files that KUBECONFIG names exists: ${missing}, ${missing}2`,
    );
    expect(await line({ KUBECONFIG: '' })).toContain(`${directory}/.kube/config does not exist; qd up creates it`);
    expect(await line({ KUBECONFIG: '' }, '--kubeconfig', missing)).toBe(
      `qd: --kubeconfig ${missing} does not exist\n`,
    );
  });
});
