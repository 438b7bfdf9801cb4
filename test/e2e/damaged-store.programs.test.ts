/** Tests a damaged data file: what the program rejects, its messages, and how an operator goes on. */
import { copyFile, cp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newDirectory, type Qd, runQd, startQd } from './program.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const KEY = '/registry/core/configmaps/default/two';

/** A cluster with two ConfigMaps, a snapshot of it, and is stopped; each test damages a copy. */
let undamaged: string;
let directory: string;
const running: Qd[] = [];
const start = async () => {
  const qd = await startQd({ directory });
  running.push(qd);
  return qd;
};
const data = () => join(directory, 'data');
const file = () => join(data(), 'store', 'data.mdb');
const snapshot = () => join(directory, 'snapshot');
const run = (...args: string[]) => runQd([...args, '--data-dir', data()]);
const up = () => run('up', '--port', '0', '--kubeconfig', join(directory, 'kubeconfig'));

/** Replaces every occurrence of a byte sequence, in any page. */
async function change(path: string, from: string, to: string): Promise<void> {
  const bytes = await readFile(path);
  for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at + 1)) bytes.write(to, at);
  await writeFile(path, bytes);
}

beforeAll(async () => {
  undamaged = directory = await newDirectory();
  const qd = await start();
  for (const name of ['one', 'two']) {
    const made = await qd.request('POST', MAPS, { body: { metadata: { name }, data: { is: `value-of-${name}` } } });
    expect(made.code).toBe(200);
  }
  expect((await run('snapshot', 'save', snapshot())).code).toBe(0);
  expect(await qd.stop()).toBe(0);
});
afterAll(() => rm(undamaged, { recursive: true, force: true }));
beforeEach(async () => {
  directory = await newDirectory();
  await cp(undamaged, directory, { recursive: true });
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((qd) => qd.stop('SIGKILL')));
  await rm(directory, { recursive: true, force: true });
});

describe('a damaged value', () => {
  beforeEach(() => change(file(), 'value-of-two', 'Value-of-two'));

  test('is rejected by its key, everything else is served, and a check names it while the cluster runs', async () => {
    const qd = await start();
    expect(qd.output()).toContain(`"key":"${KEY}"`);
    const one = await qd.request('GET', `${MAPS}/one`);
    expect(one.body.data).toEqual({ is: 'value-of-one' });
    const two = await qd.request('GET', `${MAPS}/two`);
    expect([two.code, two.body.message]).toEqual([
      500,
      expect.stringContaining(`corrupt object, Code: 7, Key: ${KEY}`),
    ]);
    const list = await qd.request('GET', MAPS);
    expect([list.code, list.body.details.causes[0].field]).toEqual([500, KEY]);
    expect((await qd.request('POST', MAPS, { body: { metadata: { name: 'three' } } })).code).toBe(200);

    const check = await run('snapshot', 'check');
    expect(check.code).toBe(1);
    expect(check.stdout).toMatch(new RegExp(`^damaged: ${KEY} \\(revision \\d+\\)\n$`));
    expect(check.stderr).toMatch(/^qd: \S+\/data is damaged: 1 value cannot be read; stop the cluster, and .*\n$/);
    const save = await run('snapshot', 'save', join(directory, 'another'));
    expect([save.code, save.stderr]).toEqual([1, expect.stringContaining(`the value of ${KEY}`)]);
    const remove = await run('snapshot', 'check', '--delete-damaged');
    expect([remove.code, remove.stderr]).toEqual([1, expect.stringContaining('stop it first')]);
    expect((await qd.request('GET', `${MAPS}/three`)).code).toBe(200);
  });

  test('is deleted on request, with the cluster stopped', async () => {
    const check = await run('snapshot', 'check');
    expect([check.code, check.stdout]).toEqual([1, expect.stringContaining(`damaged: ${KEY}`)]);
    const removed = await run('snapshot', 'check', '--delete-damaged');
    expect(removed.stdout).toMatch(new RegExp(`^deleted: ${KEY}\n\\S+: undamaged; revision \\d+, \\d+ keys\n$`));
    expect(removed.code).toBe(0);
    const qd = await start();
    const { code, body } = await qd.request('GET', MAPS);
    expect([code, body.items.map(({ metadata }: any) => metadata.name)]).toEqual([200, ['kube-root-ca.crt', 'one']]);
    expect((await qd.request('POST', MAPS, { body: { metadata: { name: 'two' } } })).code).toBe(200);
  });

  test('comes back from a snapshot', async () => {
    expect((await run('snapshot', 'restore', snapshot(), '--force')).code).toBe(0);
    const qd = await start();
    expect((await qd.request('GET', `${MAPS}/two`)).body.data).toEqual({ is: 'value-of-two' });
    expect((await run('snapshot', 'check')).code).toBe(0);
  });

  test('of an object that the start needs stops it with one line that says how to go on', async () => {
    await change(file(), 'kubernetes.io/metadata.name":"kube-system"', 'kubernetes.io/metadata.name":"kube-sYstem"');
    const { code, stderr } = await up();
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /qd: the value of \/registry\/core\/namespaces\/kube-system at revision \d+ is damaged.*--delete-damaged/,
    );
    expect((await run('snapshot', 'check', '--delete-damaged')).code).toBe(0);
    await start();
  });
});

describe('a damaged file', () => {
  test.each([
    ['with a blank page', async () => writeFile(file(), (await readFile(file())).fill(0, 4096 * 5, 4096 * 60))],
    ['that is truncated', () => truncate(file(), 4096 * 8)],
    ['that is empty', () => truncate(file(), 0)],
    ['that is missing', () => rm(file())],
  ])('%s is rejected by its name at the start, and by a check', async (_, damage) => {
    await damage();
    const { code, stderr } = await up();
    expect(code).toBe(1);
    expect(stderr).toMatch(/qd: \S+data\.mdb is .*; restore a snapshot with "qd snapshot restore FILE --force"/);
    const check = await run('snapshot', 'check');
    expect([check.code, check.stderr]).toEqual([1, expect.stringMatching(/data\.mdb is|there is no store/)]);
    expect((await run('snapshot', 'restore', snapshot(), '--force')).code).toBe(0);
    const qd = await start();
    expect((await qd.request('GET', `${MAPS}/two`)).body.data).toEqual({ is: 'value-of-two' });
  });
});

test('a damaged snapshot is rejected, and a check names the same keys', async () => {
  expect((await runQd(['snapshot', 'check', snapshot()])).code).toBe(0);
  expect((await runQd(['snapshot', 'check', data()])).code).toBe(0);
  await change(snapshot(), 'value-of-two', 'Value-of-two');
  const check = await runQd(['snapshot', 'check', snapshot()]);
  expect(check.code).toBe(1);
  expect(check.stdout).toMatch(new RegExp(`^damaged: ${KEY} \\(revision \\d+\\)\n$`));
  expect(check.stderr).toContain('is damaged: its checksum does not match');
  await copyFile(snapshot(), join(directory, 'cut'));
  await truncate(join(directory, 'cut'), 30_000);
  expect((await runQd(['snapshot', 'check', join(directory, 'cut')])).stderr).toContain('is truncated');
  expect((await run('snapshot', 'restore', snapshot(), '--force')).code).toBe(1);
});
