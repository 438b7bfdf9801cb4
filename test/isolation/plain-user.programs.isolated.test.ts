/** Pods of the process runtime of a user who is not root: processes of that user. */
import { describe } from 'vitest';
import { prepareProcess } from '../runtimes/process.ts';
import { whyNoAttackers } from './attacker-image.ts';
import { describeEscapes } from './escapes.ts';

const NOBODY = 65_534;

// This file has a process of its own, which gives up its rights for good.
if (process.getuid?.() === 0) {
  process.setgroups?.([]);
  process.setgid?.(NOBODY);
  process.setuid?.(NOBODY);
}

const missing = whyNoAttackers();
if (missing) console.warn(`the escapes from processes of a user are skipped: ${missing}`);

describe.skipIf(missing)('no root', () => {
  const why = 'a pod is a process of the user of the agent';
  describeEscapes({
    name: 'plain processes without root',
    prepare: () => prepareProcess(),
    unpromised: {
      ...{ containers: why, 'user namespaces': why, 'another user': why },
      'pod network': 'pods are on the network of the node',
    },
  });
});
