/** `npm run attack`: attacks the built program and reports what other clients noticed. See README.md. */
import { parseArgs } from 'node:util';
import { dice } from '../crash/random.ts';
import { attacks, randomRequests } from './all.ts';
import type { Attack, AttackContext } from './attack.ts';
import { HttpClient } from './client.ts';
import { Probe } from './probe.ts';
import { Tally } from './tally.ts';
import { Target } from './target.ts';

const MAX_STALL_MS = 250;
const MAX_MEMORY_MB = 600;
/** Random requests between two lines of the report. */
const RANDOM_BATCH = 2_000;
const MAX_LINE_LENGTH = 400;

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '20000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    only: { type: 'string', default: '' },
  },
});

const words = values.only.split(',').filter(Boolean);
const isChosen = ({ name }: Attack) => words.length === 0 || words.some((word) => name.includes(word));
const budget = Number(values.requests);
const next = dice(Number(values.seed));
const target = await Target.start();
const problems: string[] = [];
let sent = 0;

console.log(`seed ${values.seed}, ${budget} requests`);
for (const attack of attacks.filter(isChosen)) sent += await measure(attack, 0);
while (isChosen(randomRequests) && sent < budget) sent += await measure(randomRequests, RANDOM_BATCH);
await target.stop();

for (const problem of problems) console.error(problem);
console.log(`${sent} requests, ${target.crashes.length} crashes, ${problems.length} problems (seed ${values.seed})`);
process.exitCode = problems.length > 0 ? 1 : 0;

/** Returns the log lines of the program's watchdog. */
function blockages(output: string): string[] {
  const lines = output.split('\n').filter((line) => line.includes('the event loop was blocked'));
  return lines.map((line) => line.slice(line.indexOf('"thread"'), MAX_LINE_LENGTH));
}

/** Runs one attack under the probe, prints a line, notes exceeded limits, and returns the number of requests. */
async function measure(attack: Attack, requests: number): Promise<number> {
  const { origin, tokens } = target;
  const ca = await target.ca();
  const tally = new Tally();
  const client = (token: string) => new HttpClient({ origin, ca, token, tally });
  const clients = { admin: client(tokens.admin), tenant: client(tokens.tenant), nobody: client(tokens.nobody) };
  const probe = new Probe({ origin, ca, token: tokens.probe, pid: target.pid });
  await probe.read();
  const context: AttackContext = { target, ...clients, dice: next, requests };
  const before = performance.now();
  const printed = target.output.length;
  await attack.run(context);
  const seconds = (performance.now() - before) / 1000;
  const { longestStallMs, processorWaitMs, peakMemoryMb, failed } = await probe.read();
  await probe.stop();
  for (const each of Object.values(clients)) each.close();
  const note = (what: string) => problems.push(`${attack.name}: ${what}`);
  if (!target.isRunning) {
    await target.replace();
    note(`the program crashed: ${target.crashes.at(-1)}`);
  }
  for (const line of blockages(target.output.slice(printed))) console.log(`  ${line}`);
  if (longestStallMs > MAX_STALL_MS) note(`other clients waited ${longestStallMs.toFixed(0)} ms`);
  if (peakMemoryMb > MAX_MEMORY_MB) note(`the program used ${peakMemoryMb.toFixed(0)} MB`);
  if (failed > 0) note(`${failed} reads of another client failed`);
  for (const error of tally.serverErrors) note(error);
  console.log(
    `${attack.name}: ${tally.total} requests in ${seconds.toFixed(1)} s, longest stall ${longestStallMs.toFixed(0)} ms ` +
      `(${processorWaitMs.toFixed(0)} ms of it without a processor), ` +
      `memory ${peakMemoryMb.toFixed(0)} MB (${tally})`,
  );
  return Math.max(tally.total, 1);
}
