/** The entry point of the process that keeps the containers of the process runtime: `keeper.js [--programs=FOLDER:…] NAME POD-CIDR DIRECTORY`. */

import { closeInherited } from '../../base/programs/inherited-descriptors.ts';
import { systemRandom } from '../../base/random.ts';
import { systemClock } from '../../base/time/clock.ts';
import { startKeeper } from '../../node/process/keeper/keeper.ts';

const PROGRAMS = '--programs=';

async function main(): Promise<void> {
  // Before anything is started: containers must not inherit the file of the store.
  closeInherited();
  const args = process.argv.slice(2);
  const programs = args[0]?.startsWith(PROGRAMS) ? args.shift()!.slice(PROGRAMS.length).split(':') : undefined;
  const [name = '', podCidr = '', directory = ''] = args;
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGPIPE'] as const) process.on(signal, () => undefined);
  const { ended } = await startKeeper({ directory, name, podCidr, programs, clock: systemClock, random: systemRandom });
  // The agent waits for this line.
  process.stdout.on('error', () => undefined);
  process.stdout.write('ready\n', () => process.stdout.destroy());
  await ended;
  process.exit(0);
}

void main().catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exit(1);
});
