/** Pods of the process runtime as root without an OCI runtime: processes of nobody. */
import { describe } from 'vitest';
import { prepareProcess, programsWithoutRuntimes } from '../runtimes/process.ts';
import { whyNoAttackers } from './attacker-image.ts';
import { describeEscapes } from './escapes.ts';

const missing = process.getuid?.() === 0 ? whyNoAttackers() : 'they need root';
if (missing) console.warn(`the escapes from processes of nobody are skipped: ${missing}`);

describe.skipIf(missing)('no OCI runtime', () => {
  const why = 'a pod is a process of nobody, not a container';
  describeEscapes({
    name: 'plain processes of nobody',
    prepare: () => prepareProcess([`--programs=${programsWithoutRuntimes()}`]),
    unpromised: { containers: why, 'user namespaces': why },
  });
});
