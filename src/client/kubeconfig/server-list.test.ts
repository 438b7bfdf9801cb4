import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../base/time/clock.ts';
import { connectionOf, loadKubeconfig, parseKubeconfig } from './kubeconfig.ts';
import { writeContext } from './kubeconfig-file.ts';
import { serverList } from './server-list.ts';

const SERVERS = ['https://10.0.0.1:6443', 'https://[fd00::2]:6443'];
const entry = { name: 'qd', server: 'https://10.0.0.1:6443', ca: 'CA', cert: 'CERT', key: 'KEY' };

describe('the list of servers', () => {
  let directory: string;
  let file: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'server-list-'));
    file = join(directory, 'config');
  });
  afterEach(() => rm(directory, { recursive: true }));

  const written = async () => (await connectionOf(await loadKubeconfig([file]), 'qd')).servers;

  it('is written and read with the cluster, and goes when the cluster has one server', async () => {
    await writeContext(file, { ...entry, servers: SERVERS }, systemClock);
    expect(await written()).toEqual(SERVERS);
    await writeContext(file, entry, systemClock);
    expect(await written()).toBeUndefined();
  });

  it('leaves the extensions of other programs alone', async () => {
    const clusters = [{ name: 'c', cluster: { server: 'https://one', extensions: [{ name: 'mine', extension: 7 }] } }];
    await writeFile(file, JSON.stringify({ clusters }));
    await writeContext(file, { ...entry, servers: SERVERS }, systemClock);
    expect((await loadKubeconfig([file])).clusters.get('c')).toEqual(clusters[0]!.cluster);
  });

  it.each([
    ['no list', 'servers'],
    ['a list of other things', [7, null, { a: 1 }]],
    ['URLs to which no credentials may go', ['http://10.0.0.1', 'ftp://x', 'https://10.0.0.1:99999', 'file:///etc']],
  ])('is empty when a file has %s', (_, servers) => {
    expect(serverList({ extensions: [null, { name: 'quarterdeck/servers', extension: { servers } }] })).toEqual([]);
  });

  it('has a limit', () => {
    const servers = Array.from({ length: 1_000 }, (_, at) => `https://10.0.0.1:${at + 1}`);
    expect(serverList({ extensions: [{ name: 'quarterdeck/servers', extension: { servers } }] })).toHaveLength(32);
  });

  it('is absent where the field is not one', () => {
    const text = JSON.stringify({ clusters: [{ name: 'c', cluster: { server: 'https://one', extensions: 'x' } }] });
    expect(serverList(parseKubeconfig(text, 'config').clusters.get('c') ?? {})).toEqual([]);
  });
});
