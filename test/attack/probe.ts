/**
 * Measures from a thread of its own how long a small read takes, again and again, and how much memory the server has. The
 * longest read is the stall that all clients noticed.
 */
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

interface ProbeOptions {
  readonly origin: string;
  readonly ca: string;
  readonly token: string;
  readonly pid: number;
}

export interface Measured {
  readonly longestStallMs: number;
  readonly peakMemoryMb: number;
  /** Reads that were not answered with 200. */
  readonly failed: number;
}

const PROBE_INTERVAL_MS = 10;
const PATH = '/api/v1/namespaces/default';

export class Probe {
  readonly #worker: Worker;

  constructor(options: ProbeOptions) {
    this.#worker = new Worker(import.meta.filename, { workerData: options, execArgv: ['--import', 'tsx'] });
  }

  /** What was measured since the last call. */
  read(): Promise<Measured> {
    return new Promise((resolve) => {
      this.#worker.once('message', resolve);
      this.#worker.postMessage('read');
    });
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }
}

/** A read that is under way counts with the time it has taken so far: a server that hangs must not look well. */
class Prober {
  readonly #options: ProbeOptions;
  readonly #agent: Agent;
  #longest = 0;
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
      peakMemoryMb: this.#memory,
      failed: this.#failed,
    };
    this.#longest = 0;
    this.#memory = 0;
    this.#failed = 0;
    return measured;
  }

  #next(): void {
    this.#sampleMemory();
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
    this.#longest = Math.max(this.#longest, performance.now() - (this.#since ?? 0));
    this.#since = undefined;
    if (!succeeded) this.#failed++;
    setTimeout(() => this.#next(), PROBE_INTERVAL_MS);
  }

  #sampleMemory(): void {
    try {
      const status = readFileSync(`/proc/${this.#options.pid}/status`, 'utf8');
      const resident = /^RssAnon:\s+(\d+) kB/m.exec(status);
      this.#memory = Math.max(this.#memory, Number(resident?.[1] ?? 0) / 1024);
    } catch {
      // The process is gone; the target notices and says so.
    }
  }
}

if (!isMainThread) {
  const prober = new Prober(workerData as ProbeOptions);
  parentPort?.on('message', () => parentPort?.postMessage(prober.read()));
}
