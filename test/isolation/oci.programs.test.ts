/** Pods of the process runtime as root, in containers of an OCI runtime. */
import { describe } from 'vitest';
import { prepareProcess } from '../runtimes/process.ts';
import { whyNoAttackers } from './attacker-image.ts';
import { ATTACKS_OF_ROOT, describeEscapes } from './escapes.ts';

/** Ids that no user of the machine has. */
const IDS = [{ hostId: 40_001 * 65_536, containerId: 0, length: 65_536 }];

const missing = process.getuid?.() === 0 ? whyNoAttackers() : 'they need root';
if (missing) console.warn(`the escapes from containers of an OCI runtime are skipped: ${missing}`);

describe.skipIf(missing)('an OCI runtime', () => {
  describeEscapes({
    name: 'an OCI runtime',
    prepare: async () => ({ ...(await prepareProcess()), idMappings: IDS }),
  });

  describeEscapes({
    name: 'an OCI runtime with the users of the node',
    prepare: () => prepareProcess(),
    unpromised: { 'user namespaces': 'the pod asked for the ids of the node' },
    attacks: ATTACKS_OF_ROOT,
  });
});
