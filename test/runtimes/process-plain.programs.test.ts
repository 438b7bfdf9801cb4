/**
 * Tests the process runtime as root on a machine without an OCI runtime: pods are processes of the user nobody, with
 * their own addresses.
 */
import { describe } from 'vitest';
import { describePlain } from './contract/plain.ts';
import { prepareProcess, programsWithoutRuntimes } from './process.ts';

const isRoot = process.getuid?.() === 0;
if (!isRoot) console.warn('the tests of the process runtime are skipped: they need root');

describe.skipIf(!isRoot)('as root without an OCI runtime', () => {
  describePlain(() => prepareProcess([`--programs=${programsWithoutRuntimes()}`]));
});
