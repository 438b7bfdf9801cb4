/** Pods of containerd. */
import { describe } from 'vitest';
import { prepareContainerd, whyNoContainerd } from '../runtimes/own-containerd.ts';
import { whyNoAttackers } from './attacker-image.ts';
import { describeEscapes } from './escapes.ts';

const missing = whyNoContainerd() ?? whyNoAttackers();
if (missing) console.warn(`the escapes from containers of containerd are skipped: ${missing}`);

describe.skipIf(missing)('containerd', () => {
  const unpromised = {
    'user namespaces': 'containerd has them since 2.0, for pods that ask for them',
    'volumes without devices': 'containerd mounts volumes with device files; its device cgroup decides',
    'no debugging': 'the filter of containerd lets processes trace each other inside a container',
    'no special sockets': 'the filter of containerd 1.6 allows them',
    'limits without a filter': 'processes are in the cgroup that carries the limit, so only the filter protects it',
    'devices by the node': 'runc 1.1 makes links in the directory to which /dev of an image leads',
    keeper: 'containerd has none',
  };
  describeEscapes({ name: 'containerd', prepare: () => prepareContainerd(), unpromised });
});
