/** Runs the nodes: they register, renew their leases, and go down and come back by annotation or rule. */

import { isApiError } from '../../../api/errors.ts';
import type { DeepReadonly } from '../../../api/object-types.ts';
import { concurrently } from '../../../base/event-loop/concurrently.ts';
import type { Client, ClientTools } from '../../../client/client.ts';
import type { Informer } from '../../../client/informer/informer.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import { ANNOTATION_PREFIX } from '../rules/choose-stages.ts';
import { sample } from '../rules/duration.ts';
import type { NodeRule } from '../rules/rules.ts';
import { AddressPool } from './addresses.ts';
import { Leases, renewalInterval } from './leases.ts';
import { healthyConditions, type Machine, registrationOf, rulesFor } from './machine.ts';
import { SimulatedNode } from './node.ts';
import type { TimerQueue } from './timer-queue.ts';

const DOWN = `${ANNOTATION_PREFIX}down`;
const NOT_READY = 'node.kubernetes.io/not-ready';
const MAX_CONCURRENT_REGISTRATIONS = 128;
/** Renewals are rounded up to multiples of this, so that they share disk flushes. */
const RENEWAL_GRANULARITY_MS = 2_000;
/** How long to wait after a renewal that failed. */
const RENEWAL_RETRY_MS = 10_000;

export interface FleetOptions extends ClientTools {
  /** Acts as the node of this name. */
  readonly clientOf: (node: string) => Client;
  readonly timers: TimerQueue;
  readonly nodes: Informer<Node>;
  readonly machines: readonly Machine[];
  readonly rules: readonly NodeRule[];
  /** Milliseconds between two renewals of a lease; undefined: by the number of nodes. */
  readonly renewalMs: number | undefined;
  readonly signal: AbortSignal;
  /** Called when a node is up again. */
  readonly onUp: (node: SimulatedNode) => void;
  /** Records an event about a node; `reason` is for example `NodeReady`. */
  readonly emit: (object: DeepReadonly<Node>, reason: string) => void;
  /** Called when a node was deleted from the cluster. */
  readonly onGone: (node: SimulatedNode) => void;
}

export class Fleet {
  readonly #leases: Leases;
  readonly #interval: number;
  readonly #nodes = new Map<string, SimulatedNode>();
  /** Writes in progress. */
  readonly #pending = new Set<Promise<void>>();

  constructor(private readonly options: FleetOptions) {
    const { clock, machines, renewalMs } = options;
    this.#interval = renewalMs ?? renewalInterval(machines.length);
    this.#leases = new Leases(clock, this.#interval);
    for (const machine of machines) this.#nodes.set(machine.name, this.#newNode(machine));
  }

  /** Returns undefined for a node that is not simulated. */
  node(name: string): SimulatedNode | undefined {
    return this.#nodes.get(name);
  }

  /** Resolves when every node is registered and has its lease. The informer of nodes must have synced. */
  async register(): Promise<void> {
    const all = [...this.#nodes.values()];
    await concurrently(all, MAX_CONCURRENT_REGISTRATIONS, (node, index) =>
      this.#register(node, (index + 1) / all.length),
    );
    const { nodes, signal } = this.options;
    const leave = nodes.onChange(({ type, object }) => this.#onChange(type, object));
    signal.addEventListener('abort', leave, { once: true });
  }

  /** Resolves when no write is in progress. */
  async stopped(): Promise<void> {
    await Promise.all(this.#pending);
  }

  #newNode(machine: Machine): SimulatedNode {
    const node: SimulatedNode = new SimulatedNode(machine, this.options.clientOf(machine.name), {
      renewal: () => this.#renew(node),
      outage: () => this.#outage(node),
    });
    return node;
  }

  /**
   * Registers the node, or resumes one that exists. `share`, from 0 to 1, spreads the first renewals over the interval.
   */
  async #register(node: SimulatedNode, share: number): Promise<void> {
    const { clock, random, timers, nodes, rules, signal } = this.options;
    const now = clock.now();
    const old = nodes.lister.get(node.name);
    if (old) this.#report(node, old);
    const known = old ?? (await this.#create(node, now));
    node.uid = known.metadata.uid;
    node.isUnschedulable = known.spec.unschedulable === true;
    const range = known.spec.podCIDR;
    if (range !== undefined && range !== node.machine.podRange) node.pool = new AddressPool(range);
    if (known.metadata.annotations?.[DOWN] === 'true') node.downBy.add('annotation');
    else if (old) await this.#leases.renew(node, signal);
    else await this.#leases.create(node, signal);
    timers.set(node.renewal, roundUp(now + this.#interval * share));
    const down = rulesFor(node.name, rules).find((rule) => rule.down)?.down;
    if (down) timers.set(node.outage, now + sample(down.after, random));
  }

  /**
   * Registers as the node itself. The simulation adds what a node may not set, as an administrator and the node lifecycle
   * controller would: restricted labels, and that the node, which is ready at once, takes pods.
   */
  async #create(node: SimulatedNode, now: number): Promise<DeepReadonly<Node>> {
    const { client, rules, signal } = this.options;
    const { own, restrictedLabels: labels } = registrationOf(node.machine, rules, now);
    const made = await node.client.of(Node).create(own, { signal });
    const taints = made.spec.taints?.filter(({ key }) => key !== NOT_READY) ?? [];
    const isTainted = taints.length < (made.spec.taints?.length ?? 0);
    if (!isTainted && Object.keys(labels).length === 0) return made;
    const changes = { metadata: { labels }, ...(isTainted ? { spec: { taints } } : {}) };
    return client.of(Node).patch(node.name, { type: 'merge', changes }, { signal });
  }

  #onChange(type: 'add' | 'update' | 'delete', object: DeepReadonly<Node>): void {
    const node = this.#nodes.get(object.metadata.name ?? '');
    if (!node) return;
    if (type === 'delete') {
      if (object.metadata.uid === node.uid) this.#remove(node);
      return;
    }
    node.uid = object.metadata.uid;
    this.#setDown(node, 'annotation', object.metadata.annotations?.[DOWN] === 'true');
    if (!node.isUp) return;
    this.#report(node, object);
    const isUnschedulable = object.spec.unschedulable === true;
    if (isUnschedulable !== node.isUnschedulable) {
      this.options.emit(object, isUnschedulable ? 'NodeNotSchedulable' : 'NodeSchedulable');
    }
    node.isUnschedulable = isUnschedulable;
  }

  /** A deleted node is not registered again until the program restarts. */
  #remove(node: SimulatedNode): void {
    const { timers, onGone } = this.options;
    timers.set(node.renewal, undefined);
    timers.set(node.outage, undefined);
    this.#nodes.delete(node.name);
    onGone(node);
  }

  #outage(node: SimulatedNode): void {
    const { timers, clock, random, rules } = this.options;
    const wasDown = node.downBy.has('rule');
    this.#setDown(node, 'rule', !wasDown);
    const lasts = rulesFor(node.name, rules).find((rule) => rule.down)?.down?.for;
    if (!wasDown && lasts) timers.set(node.outage, clock.now() + sample(lasts, random));
  }

  #setDown(node: SimulatedNode, by: 'annotation' | 'rule', isDown: boolean): void {
    const { timers, nodes, signal, onUp } = this.options;
    const wasUp = node.isUp;
    if (isDown) node.downBy.add(by);
    else node.downBy.delete(by);
    if (node.isUp === wasUp) return;
    if (!node.isUp) {
      timers.set(node.renewal, undefined);
      this.#write(node, () => this.#leases.release(node, signal));
      return;
    }
    this.#renew(node);
    const known = nodes.lister.get(node.name);
    if (known) this.#report(node, known);
    onUp(node);
  }

  #renew(node: SimulatedNode): void {
    const { timers, clock, signal } = this.options;
    if (!node.isUp) return;
    timers.set(node.renewal, roundUp(clock.now() + this.#interval));
    this.#write(node, async () => {
      try {
        await this.#leases.renew(node, signal);
      } catch (error) {
        if (this.#nodes.has(node.name)) timers.set(node.renewal, clock.now() + RENEWAL_RETRY_MS);
        throw error;
      }
    });
  }

  /** Reports that the node is ready, when its Ready condition says otherwise. */
  #report(node: SimulatedNode, known: DeepReadonly<Node>): void {
    const { clock, signal, emit } = this.options;
    if (known.status.conditions?.find(({ type }) => type === 'Ready')?.status === 'True' || node.isReporting) return;
    const changes = { status: { conditions: healthyConditions(clock.now()) } };
    node.isReporting = true;
    this.#write(node, async () => {
      try {
        await node.client.of(Node).patchStatus(node.name, { type: 'strategic', changes }, { signal });
        emit(known, 'NodeReady');
      } finally {
        node.isReporting = false;
      }
    });
  }

  #write(node: SimulatedNode, write: () => Promise<void>): void {
    const { log, signal } = this.options;
    const writing = write()
      .catch((error: unknown) => {
        if (signal.aborted || isApiError(error, 'NotFound')) return;
        log.warn('cannot write the status or lease of a node', { node: node.name, error: String(error) });
      })
      .finally(() => this.#pending.delete(writing));
    this.#pending.add(writing);
  }
}

const roundUp = (time: number) => Math.ceil(time / RENEWAL_GRANULARITY_MS) * RENEWAL_GRANULARITY_MS;
