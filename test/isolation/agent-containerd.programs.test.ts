/** The built program with containerd. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe } from 'vitest';
import { whyNoContainerd } from '../runtimes/own-containerd.ts';
import { writeImage } from '../runtimes/world.ts';
import { describeAgent } from './agent.ts';
import { AttackedCluster } from './cluster.ts';

const missing = whyNoContainerd();
if (missing) console.warn(`attacks on an agent with containerd are skipped: ${missing}`);

describe.skipIf(missing)('an agent with containerd', () => {
  let cluster: AttackedCluster;

  beforeAll(async () => {
    cluster = await AttackedCluster.start({
      ...{ runtime: 'containerd', image: 'attacker:1', clusterCidr: '10.222.0.0/16', serviceCidr: '10.122.0.0/16' },
      async prepare(directory) {
        const archive = join(directory, 'attacker.tar');
        await writeImage(archive, { name: 'docker.io/library/attacker:1', applets: ['ln'] });
        const socket = join(directory, 'containerd', 'containerd.sock');
        await promisify(execFile)('ctr', ['--address', socket, '--namespace', 'k8s.io', 'images', 'import', archive]);
      },
    });
  });
  afterAll(() => cluster?.stop());

  describeAgent(() => cluster);
});
