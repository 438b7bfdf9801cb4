/** The entry point of the worker thread that answers DNS queries. */
import { readFile } from 'node:fs/promises';
import { parentPort } from 'node:worker_threads';
import { silent } from '../base/log.ts';
import { systemRandom } from '../base/random.ts';
import { systemClock } from '../base/time/clock.ts';
import { serveDnsThread } from '../network/dns/server/thread.ts';

if (!parentPort) throw new Error('this file runs in a worker thread of qd, not by itself');
serveDnsThread(parentPort, {
  clock: systemClock,
  random: systemRandom,
  log: silent,
  readResolvConf: () => readFile('/etc/resolv.conf', 'utf8').catch(() => ''),
});
