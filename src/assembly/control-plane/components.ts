/** The controllers and the scheduler of a control plane, in the process of its server. */
import { createPrivateKey } from 'node:crypto';
import { allControllers, type ControllerOptions } from '../../controllers/all.ts';
import { signingAuthority } from '../../controllers/identity/certificates/signing.ts';
import type { Controller } from '../../controllers/loop/define.ts';
import { QueueMetrics } from '../../controllers/loop/queue-metrics.ts';
import { SchedulerMetrics } from '../../scheduler/metrics.ts';
import { legacyTokenSigner } from '../../server/access/authn/tokens/legacy-token-signer.ts';
import type { Server } from '../../server/index.ts';
import type { Metrics } from '../../server/serving/metrics/metrics.ts';
import { servingNames, urlOf } from '../addresses.ts';
import type { Cleanup } from '../cleanup.ts';
import type { ApiAddress, Tools } from '../context.ts';
import type { Pki } from '../keys/pki.ts';
import { type ProcessOptions, startControllers } from './controllers.ts';
import { LocalScheduler } from './scheduler.ts';

/** The scheduler's name among those of controllers. */
export const SCHEDULER = 'scheduler';

/** Keys that controllers sign with. */
export type ControllerKeys = Pick<ControllerOptions, 'authority' | 'mintToken' | 'signCertificate'>;

/** Facts that controllers know about the cluster that they run in. */
export type ClusterFacts = Pick<
  ControllerOptions,
  'podRange' | 'volumesDirectory' | 'reservedNames' | 'serverPort' | 'server'
>;

export interface ComponentOptions extends ProcessOptions {
  readonly keys: ControllerKeys;
  readonly facts: ClusterFacts;
  /** Reports whether the controller of this name, or the scheduler, runs; default: all do. */
  readonly runs?: (name: string) => boolean;
  /** Runs wherever, and as long as, the controllers do. */
  readonly beside?: ((server: ComponentServer, signal: AbortSignal) => Promise<void>) | undefined;
  /** Where they are measured. */
  readonly metrics?: Metrics | undefined;
}

/** Whom the components call, and what they follow besides objects. */
export type ComponentServer = Pick<
  Server,
  'direct' | 'forward' | 'beginTerm' | 'others' | 'registry' | 'backends' | 'unknownContent'
>;

export class Components {
  readonly #options: ComponentOptions;
  readonly #scheduler: LocalScheduler;
  readonly #queues: QueueMetrics | undefined;
  readonly #scheduling: SchedulerMetrics | undefined;
  #keys: ControllerKeys;
  #running: { readonly server: ComponentServer; readonly stopControllers: () => Promise<void> } | undefined;

  constructor(options: ComponentOptions, scheduler = new LocalScheduler()) {
    this.#options = options;
    this.#scheduler = scheduler;
    this.#keys = options.keys;
    const { metrics } = options;
    this.#queues = metrics && new QueueMetrics(options.clock);
    this.#scheduling = metrics && this.schedules ? new SchedulerMetrics() : undefined;
    metrics?.add(this.#queues, this.#scheduling);
  }

  get schedules(): boolean {
    return this.#runs(SCHEDULER);
  }

  /** The controllers that run, and how many there are. */
  controllers(server: ComponentServer): { readonly chosen: readonly Controller[]; readonly total: number } {
    const all = allControllers({
      ...this.#options.facts,
      ...this.#keys,
      kinds: () => server.registry.kinds,
      unknownContent: (namespace) => server.unknownContent(namespace),
      aggregated: () => server.backends.proxied(),
      onKindsChange: (listener) => server.backends.onChange(listener),
    });
    return { chosen: all.filter(({ name }) => this.#runs(name)), total: all.length };
  }

  /** They read all objects first, which can wait until the server is ready. */
  start(server: ComponentServer, cleanup: Cleanup): void {
    this.#running = { server, stopControllers: this.#startControllers(server) };
    cleanup.add(async () => this.#running?.stopControllers());
    if (!this.schedules) return;
    const { keys, facts, runs, beside, ...tools } = this.#options;
    cleanup.add(this.#scheduler.start(server, { ...tools, metrics: this.#scheduling }));
  }

  /** Uses other keys from now on. */
  async use(keys: ControllerKeys): Promise<void> {
    this.#keys = keys;
    if (!this.#running) return;
    const { server, stopControllers } = this.#running;
    await stopControllers();
    this.#running = { server, stopControllers: this.#startControllers(server) };
  }

  #startControllers(server: ComponentServer): () => Promise<void> {
    const { keys, facts, runs, beside, ...tools } = this.#options;
    const own = {
      ...tools,
      metrics: this.#queues,
      beside: beside && ((signal: AbortSignal) => beside(server, signal)),
    };
    return startControllers(this.controllers(server).chosen, server, own);
  }

  #runs(name: string): boolean {
    return this.#options.runs?.(name) ?? true;
  }
}

/** The keys of a data directory, for controllers. */
export function controllerKeys(
  { authority, serviceAccountKey, signing }: Pki,
  { maxLifetime, clock, random }: Pick<Tools, 'clock' | 'random'> & { readonly maxLifetime: number },
): ControllerKeys {
  return {
    authority,
    mintToken: legacyTokenSigner(createPrivateKey(serviceAccountKey)),
    signCertificate: signingAuthority({ ...signing, maxLifetime, clock, random }),
  };
}

/** Derives cluster facts from the address of the API. */
export function factsOf(api: ApiAddress): Pick<ClusterFacts, 'reservedNames' | 'serverPort' | 'server'> {
  return { reservedNames: servingNames(api), serverPort: api.port, server: urlOf(api) };
}
