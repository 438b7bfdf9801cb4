/** The process runtime of a user who is not root: on the network of the node, in user namespaces. */
import { existsSync } from 'node:fs';
import { describe } from 'vitest';
import { describeRuntime } from './contract.ts';
import { prepareProcess } from './process.ts';
import { BUSYBOX } from './world.ts';

const NOBODY = 65_534;

const missing = existsSync(BUSYBOX) ? undefined : 'busybox is not installed';
if (missing) console.warn(`the tests of the process runtime are skipped: ${missing}`);

// This file has a process of its own, which gives up its rights for good.
if (process.getuid?.() === 0) {
  process.setgroups?.([]);
  process.setgid?.(NOBODY);
  process.setuid?.(NOBODY);
}

describe.skipIf(missing)('without root', () => {
  describeRuntime('process', () => prepareProcess(), {
    'pod network': 'a user who is not root cannot make one',
    resources: 'cgroups belong to root',
    'pod cgroups': 'cgroups belong to root',
    groups: 'a user who is not root cannot choose them',
  });
});
