import { existsSync } from 'node:fs';
import { expect } from 'vitest';
import { runQd } from '../program.ts';
import { realMachine } from './machine.ts';

const isRoot = process.getuid?.() === 0;
const isInstalled = existsSync('/usr/bin/containerd') && existsSync('/usr/bin/ldd');

realMachine({
  runtime: 'containerd',
  image: 'machine:1',
  clusterCidr: '10.236.0.0/16',
  serviceRange: '10.136.0.0/16',
  async prepare(directory) {
    const where = ['--data-dir', directory];
    const built = await runQd(['image', 'build', '--image', 'machine:1', ...where]);
    expect(built).toMatchObject({ code: 0, stderr: '' });
    const listed = (await runQd(['image', 'ls', ...where])).stdout;
    expect(listed.match(/^quarterdeck-node-\d +docker\.io\/library\/machine:1 /gm)).toHaveLength(2);
  },
  skip: isRoot && isInstalled ? undefined : 'containerd and ldd are not installed, or this is not root',
});
