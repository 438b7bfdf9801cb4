/** The nodes themselves: they register, keep their leases, and go down and come back when they are told to. */
import type { Clock } from '../../../base/clock.ts';
import { isApiError } from '../../../base/errors.ts';
import type { Logger } from '../../../base/log.ts';
import type { Random } from '../../../base/random.ts';
import type { Client } from '../../../client/client.ts';
import type { Informer } from '../../../client/informer/informer.ts';
import type { DeepReadonly } from '../../../client/object-types.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import { ANNOTATION_PREFIX } from '../rules/choose.ts';
import type { NodeRule } from '../rules/rules.ts';
import { draw } from '../rules/span.ts';
import { AddressPool } from './addresses.ts';
import type { Agenda } from './agenda.ts';
import { Leases, renewalInterval } from './lease.ts';
import { type Machine, nodeConditions, nodeOf, rulesFor } from './machine.ts';
import { SimulatedNode } from './node.ts';

const DOWN = `${ANNOTATION_PREFIX}down`;
/** How many nodes register at once. */
const AT_ONCE = 128;
/** Leases are renewed at multiples of this, in milliseconds: those of one moment share a flush of the disk. */
const MOMENT = 2_000;
/** Milliseconds until a lease is renewed again that could not be. */
const RETRY = 10_000;

export interface FleetOptions {
  /** Acts as the simulation, for what a node may not do itself. */
  readonly client: Client;
  /** Acts as the node of this name. */
  readonly clientOf: (node: string) => Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly agenda: Agenda;
  readonly nodes: Informer<Node>;
  readonly machines: readonly Machine[];
  readonly rules: readonly NodeRule[];
  readonly signal: AbortSignal;
  /** A node has come back. */
  readonly onUp: (node: SimulatedNode) => void;
  /** What has become of a node, such as `NodeReady`. */
  readonly tell: (object: DeepReadonly<Node>, what: string) => void;
  /** A node was removed from the cluster. */
  readonly onGone: (node: SimulatedNode) => void;
}

export class Fleet {
  readonly #options: FleetOptions;
  readonly #leases: Leases;
  readonly #interval: number;
  readonly #nodes = new Map<string, SimulatedNode>();
  /** What is being said to the server. */
  readonly #under = new Set<Promise<void>>();

  constructor(options: FleetOptions) {
    const { clock, machines } = options;
    this.#options = options;
    this.#interval = renewalInterval(machines.length);
    this.#leases = new Leases(clock, machines.length);
    for (const machine of machines) this.#nodes.set(machine.name, this.#made(machine));
  }

  /** One of ours; undefined for any other. */
  node(name: string): SimulatedNode | undefined {
    return this.#nodes.get(name);
  }

  /** Resolves when every node is in the cluster and has its lease. The informer of nodes must have synced. */
  async register(): Promise<void> {
    const all = [...this.#nodes.values()];
    let next = 0;
    const worker = async () => {
      for (let index = next++; index < all.length; index = next++)
        await this.#enter(all[index]!, (index + 1) / all.length);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    const { nodes, signal } = this.#options;
    const leave = nodes.onChange(({ type, object }) => this.#onChange(type, object));
    signal.addEventListener('abort', leave, { once: true });
  }

  /** Resolves when nothing more is being said. */
  async stopped(): Promise<void> {
    await Promise.all(this.#under);
  }

  #made(machine: Machine): SimulatedNode {
    const node: SimulatedNode = new SimulatedNode(machine, this.#options.clientOf(machine.name), {
      renewal: () => this.#renew(node),
      outage: () => this.#outage(node),
    });
    return node;
  }

  /** Registers, or goes on as the node that is there already. `share`: where in the round of renewals it comes. */
  async #enter(node: SimulatedNode, share: number): Promise<void> {
    const { clock, random, agenda, nodes, rules, signal } = this.#options;
    const now = clock.now();
    let known = nodes.lister.get(node.name);
    if (known) this.#report(node, known);
    else known = await this.#create(node, now);
    node.uid = known.metadata.uid;
    node.isClosed = known.spec.unschedulable === true;
    const range = known.spec.podCIDR;
    if (range !== undefined && range !== node.machine.podRange) node.pool = new AddressPool(range);
    if (known.metadata.annotations?.[DOWN] === 'true') node.downBy.add('annotation');
    else await this.#leases.renew(node, signal);
    agenda.set(node.renewal, together(now + this.#interval * share));
    const down = rulesFor(node.name, rules).find((rule) => rule.down)?.down;
    if (down) agenda.set(node.outage, now + draw(down.after, random));
  }

  /** Registers as the node itself. Labels that only administrators may set are added by the simulation. */
  async #create(node: SimulatedNode, now: number): Promise<DeepReadonly<Node>> {
    const { client, rules, signal } = this.#options;
    const { own, others } = nodeOf(node.machine, rules, now);
    const made = await node.client.of(Node).create(own, { signal });
    if (Object.keys(others).length === 0) return made;
    return client.of(Node).patch(node.name, { type: 'merge', changes: { metadata: { labels: others } } }, { signal });
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
    const isClosed = object.spec.unschedulable === true;
    if (isClosed !== node.isClosed) this.#options.tell(object, isClosed ? 'NodeNotSchedulable' : 'NodeSchedulable');
    node.isClosed = isClosed;
  }

  /** A machine that somebody took out of the cluster stays out of it until the program starts again. */
  #remove(node: SimulatedNode): void {
    const { agenda, onGone } = this.#options;
    agenda.set(node.renewal, undefined);
    agenda.set(node.outage, undefined);
    this.#nodes.delete(node.name);
    onGone(node);
  }

  #outage(node: SimulatedNode): void {
    const { agenda, clock, random, rules } = this.#options;
    const isOver = node.downBy.has('rule');
    this.#setDown(node, 'rule', !isOver);
    const lasts = rulesFor(node.name, rules).find((rule) => rule.down)?.down?.for;
    if (!isOver && lasts) agenda.set(node.outage, clock.now() + draw(lasts, random));
  }

  #setDown(node: SimulatedNode, by: 'annotation' | 'rule', isDown: boolean): void {
    const { agenda, nodes, signal, onUp } = this.#options;
    const wasUp = node.isUp;
    if (isDown) node.downBy.add(by);
    else node.downBy.delete(by);
    if (node.isUp === wasUp) return;
    if (!node.isUp) {
      agenda.set(node.renewal, undefined);
      this.#say(node, () => this.#leases.release(node, signal));
      return;
    }
    this.#renew(node);
    const known = nodes.lister.get(node.name);
    if (known) this.#report(node, known);
    onUp(node);
  }

  #renew(node: SimulatedNode): void {
    const { agenda, clock, signal } = this.#options;
    if (!node.isUp) return;
    agenda.set(node.renewal, together(clock.now() + this.#interval));
    this.#say(node, async () => {
      try {
        await this.#leases.renew(node, signal);
      } catch (error) {
        if (this.#nodes.has(node.name)) agenda.set(node.renewal, clock.now() + RETRY);
        throw error;
      }
    });
  }

  /** Somebody thought that the node was gone: it is well. */
  #report(node: SimulatedNode, known: DeepReadonly<Node>): void {
    const { clock, signal, tell } = this.#options;
    if (known.status.conditions?.find(({ type }) => type === 'Ready')?.status === 'True' || node.isReporting) return;
    const changes = { status: { conditions: nodeConditions(clock.now()) } };
    node.isReporting = true;
    this.#say(node, async () => {
      try {
        await node.client.of(Node).patchStatus(node.name, { type: 'strategic', changes }, { signal });
        tell(known, 'NodeReady');
      } finally {
        node.isReporting = false;
      }
    });
  }

  #say(node: SimulatedNode, write: () => Promise<void>): void {
    const { log, signal } = this.#options;
    const saying = write()
      .catch((error: unknown) => {
        if (signal.aborted || isApiError(error, 'NotFound')) return;
        log.warn('a node cannot report', { node: node.name, error: String(error) });
      })
      .finally(() => this.#under.delete(saying));
    this.#under.add(saying);
  }
}

const together = (time: number) => Math.ceil(time / MOMENT) * MOMENT;
