/**
 * Applies objects of the API: after all of them are known, and again whenever some have changed. One application runs
 * at a time; changes that come meanwhile are applied together afterwards, and a failed one is tried again.
 */

import { soon } from '../../base/event-loop/soon.ts';
import type { Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import { type Clock, sleep } from '../../base/time/clock.ts';
import type { Client } from '../../client/client.ts';
import { InformerFactory } from '../../client/informer/informer-factory.ts';

export interface ApiFollowerOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
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
  readonly #options: ApiFollowerOptions;
  readonly #application: Application;
  readonly #stop = new AbortController();
  readonly #wake = soon(() => this.#run());
  readonly #waiting: { readonly version: number; readonly resolve: () => void }[] = [];
  #isOpen = false;
  /** Counts changes. */
  #version = 0;
  #applied = 0;
  #running: Promise<void> | undefined;

  /** Informers that end with the follower. */
  readonly informers: InformerFactory;

  constructor(options: ApiFollowerOptions, application: Application) {
    this.#options = options;
    this.#application = application;
    this.informers = new InformerFactory({ ...options, signal: this.#stop.signal });
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Resolves when these informers have synced and their objects are applied. Stays pending when stopped before. */
  async open(informers: readonly { readonly synced: Promise<void> }[]): Promise<void> {
    await Promise.all(informers.map(({ synced }) => synced));
    this.#isOpen = true;
    this.changed();
    await this.applied();
  }

  /** Something has changed. */
  changed(): void {
    this.#version++;
    if (this.#isOpen) this.#wake();
  }

  /** Resolves when all changes until now are applied. Stays pending when it is stopped before. */
  applied(): Promise<void> {
    const version = this.#version;
    if (this.#applied >= version) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ version, resolve }));
  }

  /** Stops following the API. Applied rules stay. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error(`following ${this.#application.subject} stops`));
    await this.#running;
    await this.informers.stopped();
  }

  #run(): void {
    if (this.#running || this.#stop.signal.aborted) return;
    this.#running = this.#applyAll().finally(() => {
      this.#running = undefined;
    });
  }

  async #applyAll(): Promise<void> {
    const { clock, log } = this.#options;
    const { signal } = this.#stop;
    let isRepeated = false;
    while (this.#applied < this.#version && !signal.aborted) {
      const version = this.#version;
      try {
        await this.#application.apply(isRepeated);
        isRepeated = false;
        this.#markApplied(version);
      } catch (error) {
        isRepeated = true;
        log.error(`${this.#application.subject} could not be applied`, { error: String(error) });
        await sleep(clock, RETRY_MS, signal).catch(() => undefined);
      }
    }
  }

  #markApplied(version: number): void {
    this.#applied = version;
    const done = this.#waiting.filter((each) => each.version <= version);
    this.#waiting.splice(0, this.#waiting.length, ...this.#waiting.filter((each) => each.version > version));
    for (const { resolve } of done) resolve();
  }
}
