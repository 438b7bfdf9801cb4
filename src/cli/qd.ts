/**
 * The program `qd`. This room reads arguments and the environment, wires the other rooms together and talks to the person
 * at the terminal; nothing else does any of it. A command's work is loaded when the command runs.
 */
import { certsCommand } from './certs/flags.ts';
import { encryptionCommand } from './encryption/flags.ts';
import { explainPodCommand } from './explain-pod/flags.ts';
import { runProgram } from './program.ts';
import { proxyCommand } from './proxy/flags.ts';
import { snapshotCommand } from './snapshot/flags.ts';
import { tokenCommand } from './token/flags.ts';
import { upCommand } from './up/flags.ts';

// Objects are a few KB of JSON: from slabs of Node's usual 8 KB every third of them would need a new one.
Buffer.poolSize = 64 * 1024;

void runProgram('qd', 'A cluster orchestrator that speaks the Kubernetes API.', [
  upCommand(async (flags) => {
    const { up } = await import('./up/up.ts');
    await up(flags);
  }),
  proxyCommand(),
  tokenCommand(),
  certsCommand(),
  encryptionCommand(),
  snapshotCommand(),
  explainPodCommand(),
]);
