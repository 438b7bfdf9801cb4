/** The node's part in deleting volumes that are its directories, with the real server and as the node's own user. */
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Cluster, startCluster } from '../../../../test/support/cluster/cluster.ts';
import { temporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { silent } from '../../../base/log.ts';
import { systemRandom } from '../../../base/random.ts';
import { InformerFactory } from '../../../client/informer/informer-factory.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import { PersistentVolume } from '../../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { REMOVAL } from '../../../kinds/volumes/node-directory.ts';
import type { MountEntry } from '../host/mount-table.ts';
import { directorySelector, eraseNodeDirectories } from './node-directories.ts';
import { type OwnDirectory, ownDirectory } from './own-directory.ts';

let root: string;
let cluster: Cluster;
let mounted: MountEntry[];
let stop: AbortController;
let running: Promise<unknown>;
let directoryOf: OwnDirectory;

beforeEach(async () => {
  root = temporaryDirectory();
  cluster = await startCluster();
  mounted = [];
  directoryOf = async ({ path }) => path;
  stop = new AbortController();
  for (const name of ['here', 'there']) await cluster.client.of(Node).create({ metadata: { name } });
  const client = cluster.clientFor({ name: 'system:node:here', groups: ['system:nodes', 'system:authenticated'] });
  const common = { client, clock: cluster.clock, random: systemRandom, log: silent, signal: stop.signal };
  const informers = new InformerFactory(common);
  const volumes = informers.of(PersistentVolume, { labelSelector: directorySelector('here') });
  const options = { ...common, nodeName: 'here', mounter: { entries: async () => mounted } };
  running = Promise.all([
    eraseNodeDirectories(volumes, { ...options, directoryOf: (each) => directoryOf(each) }),
    volumes.synced,
  ]);
  running.then(() => informers.stopped()).catch(() => {});
});

afterEach(async () => {
  stop.abort(new Error('the test is over'));
  await running.catch(() => {});
  await cluster.stop();
});

async function volume(name: string, node = 'here', spec: object = {}): Promise<string> {
  const path = join(root, name);
  await mkdir(path);
  await writeFile(join(path, 'data'), 'x');
  await cluster.client.of(PersistentVolume).create({
    metadata: {
      name,
      labels: { 'volume.kubernetes.io/node': node },
      annotations: { 'pv.kubernetes.io/provisioned-by': 'quarterdeck.io/node-directory' },
      finalizers: [REMOVAL],
    },
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      persistentVolumeReclaimPolicy: 'Delete',
      local: { path },
      ...spec,
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }] },
          ],
        },
      },
    },
  });
  return path;
}

const read = (name: string) =>
  cluster.client
    .of(PersistentVolume)
    .get(name)
    .catch(() => undefined);
/** Lets the disk be as fast as the clock: each look at the condition waits for it. */
async function eventually(condition: () => Promise<boolean>): Promise<void> {
  await cluster.eventually(async () => {
    for (let look = 0; look < 20; look++) {
      await readdir(root);
      if (await condition()) return true;
    }
    return false;
  });
}

const remove = (name: string) => cluster.client.of(PersistentVolume).delete(name);

it('erases the directory of a deleted volume, and lets the volume go', async () => {
  await volume('gone');
  await volume('kept');
  await remove('gone');
  await eventually(async () => (await read('gone')) === undefined);
  expect(await readdir(root)).toEqual(['kept']);
});

it('erases the directory in its own data directory, where that was copied, and not in the original', async () => {
  const path = await volume('gone');
  const copied = temporaryDirectory();
  await mkdir(join(copied, 'here', 'gone'), { recursive: true });
  directoryOf = ownDirectory(copied);
  await remove('gone');
  await eventually(async () => (await read('gone')) === undefined);
  expect(await readdir(join(copied, 'here'))).toEqual([]);
  expect(await readdir(path)).toEqual(['data']);
  await rm(copied, { recursive: true });
});

it('leaves the directories of other nodes alone', async () => {
  await volume('elsewhere', 'there');
  await volume('mine');
  await remove('elsewhere');
  await remove('mine');
  await eventually(async () => (await read('mine')) === undefined);
  expect(await readdir(root)).toEqual(['elsewhere']);
  expect((await read('elsewhere'))?.metadata.finalizers).toContain(REMOVAL);
});

it('says why it cannot erase a directory, and tries again', async () => {
  // Its claim is gone, so that the provisioner deletes it.
  const path = await volume('busy', 'here', { claimRef: { namespace: 'default', name: 'gone', uid: 'gone' } });
  mounted = [{ mountPoint: join(path, 'inner'), type: 'ext4', source: '/dev/x', isReadOnly: false }];
  await eventually(async () => (await read('busy'))?.status?.phase === 'Failed');
  expect((await read('busy'))?.status).toMatchObject({
    reason: 'VolumeFailedDelete',
    message: `${join(path, 'inner')} is mounted`,
  });
  expect(await readdir(path)).toEqual(['data']);
  mounted = [];
  await eventually(async () => (await read('busy')) === undefined);
  expect(await readdir(root)).toEqual([]);
});
