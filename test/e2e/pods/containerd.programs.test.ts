import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { writeImage } from '../../runtimes/world.ts';
import { realPods } from './suite.ts';

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
const isInstalled = ['/usr/bin/containerd', '/usr/bin/ctr', '/bin/busybox'].every((file) => existsSync(file));

realPods({
  runtime: 'containerd',
  image: 'pods:1',
  clusterCidr: '10.231.0.0/16',
  async prepare(directory) {
    const archive = join(directory, 'pods.tar');
    await writeImage(archive, { name: 'docker.io/library/pods:1' });
    const socket = join(directory, 'containerd', 'containerd.sock');
    await run('ctr', ['--address', socket, '--namespace', 'k8s.io', 'images', 'import', archive]);
  },
  skip: isRoot && isInstalled ? undefined : 'containerd and busybox are not installed, or this is not root',
});
