/** Keeps the routes of a machine to the pods of other machines up to date with the API. */
import { type Clock, sleep } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import { soon } from '../../base/soon.ts';
import type { Client } from '../../client/client.ts';
import type { Informer } from '../../client/informer/informer.ts';
import { InformerFactory } from '../../client/informer/informer-factory.ts';
import type { DeepReadonly } from '../../client/object-types.ts';
import { Namespace } from '../../kinds/groups/core/namespace.ts';
import { Node } from '../../kinds/groups/core/node/node.ts';
import type { Kernel } from '../kernel/kernel.ts';
import type { Router } from '../kernel/router.ts';
import type { RouteMode } from '../routes/route-mode.ts';
import { routeTable } from '../routes/route-table.ts';
import { GATEWAY_ANNOTATION, type RoutingPlan, routingOf, tunnelNumber } from '../routes/routing-of.ts';

export interface RouteWatchOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** The name of the node that has the network of this machine. */
  readonly node: string;
  /** Identifies the node on this machine. */
  readonly owner: string;
  /** The ranges of its pods. */
  readonly podRanges: readonly string[];
  /** The name of the nftables table. */
  readonly table: string;
  readonly mode: RouteMode;
  readonly kernel: Pick<Kernel, 'apply' | 'remove'>;
  readonly router: Router;
  /** Limits the duration of watches, in seconds. */
  readonly watchSeconds?: number;
}

const RETRY_MS = 5_000;
/** The namespace whose UID identifies the cluster. */
const SYSTEM_NAMESPACE = 'kube-system';

export class RouteWatch {
  readonly #options: RouteWatchOptions;
  readonly #stop = new AbortController();
  readonly #informers: InformerFactory;
  readonly #nodes: Informer<Node>;
  readonly #namespaces: Informer<Namespace>;
  /** What was applied last. */
  #applied: string | undefined;
  #refused = '';
  #isDirty = true;
  #running: Promise<void> | undefined;
  readonly #wake = soon(() => this.#run());

  constructor(options: RouteWatchOptions) {
    this.#options = options;
    this.#informers = new InformerFactory({ ...options, signal: this.#stop.signal });
    this.#nodes = this.#informers.of(Node);
    this.#namespaces = this.#informers.of(Namespace, { fieldSelector: `metadata.name=${SYSTEM_NAMESPACE}` });
    void Promise.all([this.#nodes.synced, this.#namespaces.synced]).then(() => {
      this.#nodes.onChange((change) => {
        if (change.type !== 'update' || factsOf(change.object) !== factsOf(change.old)) this.#changed();
      });
      this.#wake();
    });
  }

  /** Stops following the API. Routes stay. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('the watch of routes stops'));
    await this.#running;
    await this.#informers.stopped();
  }

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
    const { clock, log } = this.#options;
    const { signal } = this.#stop;
    while (this.#isDirty && !signal.aborted) {
      this.#isDirty = false;
      try {
        await this.#apply();
      } catch (error) {
        log.error('routes to other machines could not be applied', { error: String(error) });
        await sleep(clock, RETRY_MS, signal).catch(() => undefined);
        this.#isDirty = true;
      }
    }
  }

  async #apply(): Promise<void> {
    const { node, mode, owner, podRanges, table, kernel, router } = this.#options;
    const vni = tunnelNumber(this.#namespaces.lister.get(SYSTEM_NAMESPACE)?.metadata.uid ?? '');
    const links = await router.links();
    const plan = routingOf({ nodes: this.#nodes.lister.list(), node, links, mode, vni });
    this.#report(plan);
    const next = JSON.stringify([plan.routes, plan.tunnel]);
    if (next === this.#applied) return;
    const rules = routeTable(plan, podRanges);
    // Rules come first: no packet leaves with another source.
    await (rules.length > 0 ? kernel.apply(table, rules) : kernel.remove(table));
    await router.route(owner, plan);
    this.#applied = next;
  }

  #report({ refused }: RoutingPlan): void {
    const text = JSON.stringify(refused);
    if (text === this.#refused) return;
    this.#refused = text;
    for (const each of refused) this.#options.log.warn('the pods of a node are not reached from this machine', each);
  }
}

/** What routes depend on. */
function factsOf({ metadata, spec, status }: DeepReadonly<Node>): string {
  return JSON.stringify([metadata.annotations?.[GATEWAY_ANNOTATION], spec.podCIDRs, status?.addresses]);
}
