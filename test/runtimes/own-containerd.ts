/** Starts a containerd for the tests, in a separate directory. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silent } from '../../src/base/log.ts';
import { systemClock } from '../../src/base/time/clock.ts';
import { openContainerd } from '../../src/node/containerd/open.ts';
import type { ContainerdOptions } from '../../src/node/containerd/options.ts';
import { stopOwnContainerd } from '../../src/node/containerd/own/stop.ts';
import { BUSYBOX } from './world.ts';

const PATH = process.env.PATH ?? '';

/** Returns the missing requirement on this machine, in words. */
export function whyNoContainerd(): string | undefined {
  if (process.getuid?.() !== 0) return 'they need root';
  const onPath = (name: string) => PATH.split(':').some((folder) => existsSync(join(folder, name)));
  const programs = ['containerd', 'runc', 'docker-registry', 'ip'].filter((name) => !onPath(name));
  if (!existsSync(BUSYBOX)) programs.push('busybox');
  if (!existsSync('/usr/lib/cni/bridge') && !existsSync('/opt/cni/bin/bridge')) programs.push('CNI plugins');
  return programs.length > 0 ? `${programs.join(', ')} not installed` : undefined;
}

let count = 0;

export async function prepareContainerd(changes: Partial<ContainerdOptions> = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'qd-containerd-'));
  const options: ContainerdOptions = {
    endpoint: 'own',
    directory: join(directory, 'node'),
    name: `test-${process.pid}-${++count}`,
    podCIDRs: [`10.231.${process.pid % 250}.${(count % 4) * 64}/26`],
    path: PATH,
    clock: systemClock,
    log: silent,
    ...changes,
  };
  return {
    options,
    directory,
    open: () => openContainerd(options),
    stop: async () => {
      await stopOwnContainerd({ ...options, removesPods: true });
      await rm(directory, { recursive: true, force: true });
    },
  };
}
