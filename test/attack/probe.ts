/**
 * Measures from a separate process how long a small read takes, again and again, and how much memory the server has.
 * The longest read is the stall that all clients noticed.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';

interface ProbeOptions {
  readonly origin: string;
  readonly ca: string;
  readonly token: string;
  readonly pid: number;
}

export interface Measured {
  readonly longestStallMs: number;
  /** Time that the program waited for a processor during the longest stall, because others used them all. */
  readonly processorWaitMs: number;
  readonly peakMemoryMb: number;
  /** Reads that were not answered with 200. */
  readonly failed: number;
}

const PROBE_INTERVAL_MS = 10;
const PATH = '/api/v1/namespaces/default';
/** Argument that distinguishes the process of the probe from the one that loads this file. */
const MARK = 'probe-process';

export class Probe {
  readonly #child: ChildProcess;

  constructor(options: ProbeOptions) {
    this.#child = fork(import.meta.filename, [MARK]);
    this.#child.send(options);
  }

  /** Returns the measurements since the last call. */
  async read(): Promise<Measured> {
    this.#child.send('read');
    const [measured] = await once(this.#child, 'message');
    return measured as Measured;
  }

  async stop(): Promise<void> {
    this.#child.kill();
    await once(this.#child, 'exit');
  }
}

/** A read that is under way counts with the time it has taken so far: a server that hangs must not look well. */
class Prober {
  readonly #options: ProbeOptions;
  readonly #agent: Agent;
  #longest = 0;
  #processorWait = 0;
  #waitBefore = 0;
  #memory = 0;
  #failed = 0;
  #since: number | undefined;

  constructor(options: ProbeOptions) {
    this.#options = options;
    this.#agent = new Agent({ ca: options.ca, keepAlive: true });
    this.#next();
  }

  read(): Measured {
    const waiting = this.#since === undefined ? 0 : performance.now() - this.#since;
    const measured = {
      longestStallMs: Math.max(this.#longest, waiting),
      processorWaitMs: waiting > this.#longest ? this.#processorWaitNow() - this.#waitBefore : this.#processorWait,
      peakMemoryMb: this.#memory,
      failed: this.#failed,
    };
    this.#longest = 0;
    this.#processorWait = 0;
    this.#memory = 0;
    this.#failed = 0;
    return measured;
  }

  #next(): void {
    this.#sampleMemory();
    this.#waitBefore = this.#processorWaitNow();
    this.#since = performance.now();
    const headers = { authorization: `Bearer ${this.#options.token}` };
    const call = request(this.#options.origin + PATH, { agent: this.#agent, headers }, (response) => {
      response.resume();
      response.on('end', () => this.#done(response.statusCode === 200));
    });
    call.on('error', () => this.#done(false));
    call.end();
  }

  #done(succeeded: boolean): void {
    const took = performance.now() - (this.#since ?? 0);
    if (took > this.#longest) {
      this.#longest = took;
      this.#processorWait = this.#processorWaitNow() - this.#waitBefore;
    }
    this.#since = undefined;
    if (!succeeded) this.#failed++;
    setTimeout(() => this.#next(), PROBE_INTERVAL_MS);
  }

  /** The time that the two threads of the program have waited for a processor so far: those that took most of it. */
  #processorWaitNow(): number {
    try {
      const tasks = `/proc/${this.#options.pid}/task`;
      const times = readdirSync(tasks).map((task) => readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' '));
      const busiest = times.map(([ran, waited]) => [Number(ran), Number(waited)] as const).sort(([a], [b]) => b - a);
      return busiest.slice(0, 2).reduce((sum, [, waited]) => sum + waited, 0) / 1e6;
    } catch {
      return 0;
    }
  }

  #sampleMemory(): void {
    try {
      const status = readFileSync(`/proc/${this.#options.pid}/status`, 'utf8');
      const resident = /^RssAnon:\s+(\d+) kB/m.exec(status);
      this.#memory = Math.max(this.#memory, Number(resident?.[1] ?? 0) / 1024);
    } catch {
      // The process is gone; the target notices and reports it.
    }
  }
}

if (process.argv.includes(MARK)) {
  let prober: Prober | undefined;
  process.on('message', (message: ProbeOptions | 'read') => {
    if (message === 'read') process.send?.(prober?.read());
    else prober = new Prober(message);
  });
}
