/**
 * Applies objects of the API: after all of them are known, and again whenever some have changed. One application runs
 * at a time; changes that come meanwhile are applied together afterwards, and a failed one is tried again.
 */

import { eachTurn } from '../../base/event-loop/turn-budget.ts';
import { ReconcileLoop } from '../../base/reconcile/reconcile-loop.ts';
import type { ClientTools } from '../../client/client.ts';
import { InformerFactory } from '../../client/informer/informer-factory.ts';

export interface ApiFollowerOptions extends ClientTools {
  /** Limits the duration of watches, in seconds. */
  readonly watchSeconds?: number;
}

interface Application {
  /** Name of the applied rules, for messages. */
  readonly subject: string;
  /** Applies all changes. `isRepeated`: the last call failed, so its changes must be applied, too. */
  apply(isRepeated: boolean): Promise<void>;
}

const RETRY_MS = 1_000;

export class ApiFollower {
  readonly #stop = new AbortController();
  readonly #loop: ReconcileLoop;
  readonly #waiting: { readonly version: number; readonly resolve: () => void }[] = [];
  /** Counts changes. */
  #version = 0;
  #applied = 0;
  #running: Promise<void> | undefined;

  /** Informers that end with the follower. */
  readonly informers: InformerFactory;

  constructor(
    options: ApiFollowerOptions,
    private readonly application: Application,
  ) {
    const { clock, random, log } = options;
    this.#loop = new ReconcileLoop({
      clock,
      random,
      log,
      turns: eachTurn,
      isPatient: true,
      backoff: { base: RETRY_MS, max: RETRY_MS, jitter: 0 },
      failure: `${application.subject} could not be applied`,
      reconcile: (_, errors) => this.#apply(errors.length > 0),
    });
    this.informers = new InformerFactory({ ...options, signal: this.#stop.signal });
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Resolves when these informers have synced and their objects are applied. Stays pending when stopped before. */
  async open(informers: readonly { readonly synced: Promise<void> }[]): Promise<void> {
    await Promise.all(informers.map(({ synced }) => synced));
    this.changed();
    this.#running = this.#loop.run(this.signal);
    await this.applied();
  }

  /** Something has changed. */
  changed(): void {
    this.#version++;
    this.#loop.add(this.application.subject);
  }

  /** Resolves when all changes until now are applied. Stays pending when it is stopped before. */
  applied(): Promise<void> {
    const version = this.#version;
    if (this.#applied >= version) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ version, resolve }));
  }

  /** Stops following the API. Applied rules stay. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error(`following ${this.application.subject} stops`));
    await this.#running;
    await this.informers.stopped();
  }

  async #apply(isRepeated: boolean): Promise<void> {
    const version = this.#version;
    await this.application.apply(isRepeated);
    this.#applied = version;
    const done = this.#waiting.filter((each) => each.version <= version);
    this.#waiting.splice(0, this.#waiting.length, ...this.#waiting.filter((each) => each.version > version));
    for (const { resolve } of done) resolve();
  }
}
