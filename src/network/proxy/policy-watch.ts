/** Keeps the policies of a node up to date with the API. */
import { type Clock, sleep } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import { soon } from '../../base/soon.ts';
import type { Client } from '../../client/client.ts';
import type { Informer } from '../../client/informer/informer.ts';
import { InformerFactory } from '../../client/informer/informer-factory.ts';
import type { DeepReadonly } from '../../client/object-types.ts';
import { Namespace } from '../../kinds/groups/core/namespace.ts';
import { Pod } from '../../kinds/groups/core/pod/pod.ts';
import { NetworkPolicy } from '../../kinds/groups/networking/network-policy.ts';
import type { PolicyApplier } from '../policy/policy-applier.ts';
import { policySetOf } from '../policy/policy-set-of.ts';

export interface PolicyWatchOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** The name of the node. */
  readonly node: string;
  readonly applier: PolicyApplier;
  /** Limits the duration of watches, in seconds. */
  readonly watchSeconds?: number;
}

const RETRY_MS = 1_000;

export class PolicyWatch {
  readonly #options: PolicyWatchOptions;
  readonly #stop = new AbortController();
  readonly #informers: InformerFactory;
  readonly #policies: Informer<NetworkPolicy>;
  readonly #pods: Informer<Pod>;
  readonly #namespaces: Informer<Namespace>;
  #isDirty = true;
  #running: Promise<void> | undefined;
  readonly #wake = soon(() => this.#run());

  /** Resolves when the policies that existed at the start are known. Stays pending when it is stopped before. */
  readonly ready: Promise<void>;

  constructor(options: PolicyWatchOptions) {
    this.#options = options;
    this.#informers = new InformerFactory({ ...options, signal: this.#stop.signal });
    this.#policies = this.#informers.of(NetworkPolicy);
    this.#pods = this.#informers.of(Pod);
    this.#namespaces = this.#informers.of(Namespace);
    const all = [this.#policies, this.#pods, this.#namespaces];
    this.ready = Promise.all(all.map(({ synced }) => synced)).then(() => {
      this.#policies.onChange(() => this.#changed());
      this.#namespaces.onChange((change) => {
        if (change.type !== 'update' || !isSame(change.object.metadata.labels, change.old.metadata.labels))
          this.#changed();
      });
      this.#pods.onChange((change) => {
        if (change.type !== 'update' || !isSame(factsOf(change.object), factsOf(change.old))) this.#changed();
      });
      return this.#applyAll();
    });
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('the watch of policies stops'));
    await this.#running;
    await this.#informers.stopped();
  }

  /** Pods come and go all the time; without policies nothing follows from that. */
  #changed(): void {
    this.#isDirty = true;
    this.#wake();
  }

  #run(): void {
    if (this.#running || this.#stop.signal.aborted) return;
    this.#running = this.#applyAll().finally(() => {
      this.#running = undefined;
    });
  }

  async #applyAll(): Promise<void> {
    const { clock, log, applier, node } = this.#options;
    const { signal } = this.#stop;
    while (this.#isDirty && !signal.aborted) {
      this.#isDirty = false;
      try {
        const [policies, pods] = [this.#policies.lister.list(), this.#pods.lister.list()];
        await applier.isolate(policySetOf({ policies, pods, namespaces: this.#namespaces.lister.list(), node }));
      } catch (error) {
        log.error('policies could not be applied', { error: String(error) });
        await sleep(clock, RETRY_MS, signal).catch(() => undefined);
        this.#isDirty = true;
      }
    }
  }
}

/** What policies look at. */
function factsOf({ metadata, spec, status }: DeepReadonly<Pod>): unknown {
  return [metadata.labels, spec.nodeName, status.phase, status.podIP, status.podIPs];
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
