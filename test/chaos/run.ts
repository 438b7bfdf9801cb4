/**
 * Breaks programs, machines and wires of a cluster while clients work in it, and checks that it kept its promises:
 *
 *   npm run chaos -- --minutes 60 --seed N [--store external] [--only isolate,disk]
 */

import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { dice } from '../crash/random.ts';
import { Chooser, missingFaults } from './faults.ts';
import { Site } from './site.ts';
import { Workload } from './workload.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    store: { type: 'string', default: 'ha' },
    minutes: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});

/** Time without an acknowledged write that a fault may cause. */
const MAX_GAP_MS = 5_000;
const MIN_FAULT_MS = 3_000;
const MAX_FAULT_MS = 15_000;
const OUTPUTS = join(import.meta.dirname, '..', '..', '.cache', 'chaos', values.seed);

const started = performance.now();
const end = started + Number(values.minutes) * 60_000;
const next = dice(Number(values.seed));
const problems: string[] = [];

if (values.store !== 'ha' && values.store !== 'external') throw new Error('--store is ha or external');
console.log(`seed ${values.seed}, ${values.minutes} minutes, store ${values.store}`);
for (const missing of missingFaults) console.log(`left out: ${missing}`);
const site = await Site.open(values.store);
let interruptedBy: string | undefined;
try {
  interruptedBy = await Promise.race([runRounds(), firstSignal()]);
  if (interruptedBy) console.log(`interrupted by ${interruptedBy}, removing the cluster`);
} catch (error) {
  note(`the run could not go on: ${error instanceof Error ? error.message : error}`);
} finally {
  if (problems.length > 0) {
    await site.saveOutputs(OUTPUTS);
    console.log(`the programs' output is in ${OUTPUTS}`);
  }
  await site.close();
}
process.exit(problems.length > 0 || interruptedBy ? 1 : 0);

async function runRounds(): Promise<undefined> {
  const only = values.only.split(',').filter((part) => part !== '');
  const chooser = new Chooser(site, next, only);
  const workload = await Workload.start(site);
  say('the workload runs');
  let rounds = 0;
  for (; performance.now() < end; rounds++) await runRound(chooser, workload, `round-${rounds}`);
  for (const problem of await workload.stop()) note(problem);
  console.log(
    `${rounds} rounds of faults (seed ${values.seed}), ${workload.operations} reads and writes, ${problems.length} problems`,
  );
}

/** Resolves to the name of the first signal that asks the run to end. */
function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, resolve);
  });
}

async function runRound(chooser: Chooser, workload: Workload, round: string): Promise<void> {
  const faults = await chooser.next();
  const duration = MIN_FAULT_MS + next(MAX_FAULT_MS - MIN_FAULT_MS);
  say(`${round}: ${faults.map(({ text }) => text).join('; ')} for ${duration} ms`);
  const began = performance.now();
  const undos = await Promise.all(faults.map((fault) => fault.begin()));
  const created = workload.begin(round);
  await wait(duration);
  for (const undo of undos) undo();
  await site.startMissing();
  await created;
  const unsettled = await workload.settle(round);
  const gap = workload.longestGapSince(began);
  const load = `load ${loadavg()[0]!.toFixed(0)} on ${availableParallelism()} processors`;
  say(`  settled, longest time without a write ${gap.toFixed(0)} ms, ${workload.operations} operations, ${load}`);
  for (const problem of unsettled) note(`${round}: ${problem}`);
  if (gap > MAX_GAP_MS) note(`${round}: no write was acknowledged for ${gap.toFixed(0)} ms`);
}

function note(problem: string): void {
  problems.push(problem);
  say(`  PROBLEM ${problem}`);
}

function say(text: string): void {
  console.log(`${((performance.now() - started) / 1000).toFixed(1).padStart(8)} ${text}`);
}
