/** The entry point of the process that listens for a cluster: `network-daemon.js DIRECTORY`. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { machineGuard } from '../../assembly/machine-guard.ts';
import { daemonRelease } from '../../assembly/threads/daemon-release.ts';
import { keepHeapSmall } from '../../assembly/threads/heap-growth.ts';
import { systemRandom } from '../../base/random.ts';
import { systemClock } from '../../base/time/clock.ts';
import { startDaemon } from '../../network/daemon/daemon.ts';
import { channelTo, type ToHeir, type ToPredecessor } from '../../network/daemon/handover.ts';
import { createLogger } from '../output/logger.ts';

async function main(): Promise<void> {
  const [, program = '', directory = ''] = process.argv;
  keepHeapSmall();
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGPIPE'] as const) process.on(signal, () => undefined);
  const daemon = await startDaemon({
    directory,
    clock: systemClock,
    random: systemRandom,
    log: createLogger('info'),
    release: daemonRelease(basename(program)),
    predecessor: process.connected ? channelTo<ToPredecessor, ToHeir>(process) : undefined,
    readResolvConf: () => readFile('/etc/resolv.conf', 'utf8').catch(() => ''),
    guardFor: (allowedDialRanges) => machineGuard({ allowedDialRanges }),
  });
  process.on('SIGTERM', () => daemon.end('SIGTERM'));
  // The program waits for this line.
  process.stdout.on('error', () => undefined);
  process.stdout.write('ready\n', () => process.stdout.destroy());
  await daemon.ended;
  process.exit(0);
}

void main().catch((error: unknown) => {
  process.stderr.write(`${String(error)}\n`);
  process.exit(1);
});
