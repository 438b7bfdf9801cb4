/** Tests the process runtime as a user other than root: pods are processes of that user, on the network of the node. */
import { describe } from 'vitest';
import { describePlain } from './contract/plain.ts';
import { prepareProcess } from './process.ts';

const NOBODY = 65_534;

// This file has a separate process, which gives up its rights for good.
if (process.getuid?.() === 0) {
  process.setgroups?.([]);
  process.setgid?.(NOBODY);
  process.setuid?.(NOBODY);
}

describe('without root', () => {
  describePlain(() => prepareProcess());
});
