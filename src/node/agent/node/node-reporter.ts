/** Registers the node, and reports its status when it changes and from time to time. */

import { isApiError } from '../../../api/errors.ts';
import type { DeepReadonly } from '../../../api/object-types.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import type { Logger } from '../../../base/log.ts';
import type { Clock, Timer } from '../../../base/time/clock.ts';
import type { Client } from '../../../client/client.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import type { Runtime, RuntimeHealth } from '../../runtime/runtime.ts';
import type { Machine, MachineDescription } from './machine.ts';
import {
  type NodeCondition,
  type NodeSettings,
  newNode,
  nodeAnnotations,
  nodeConditions,
  nodeLabels,
  nodeStatus,
} from './node-object.ts';

export interface NodeReporterOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly settings: NodeSettings;
  readonly machine: Machine;
  readonly runtime: Pick<Runtime, 'health' | 'images' | 'handlers' | 'supplementalGroupsPolicy' | 'limitation'>;
  /** Records an event about the node. */
  readonly emit: (node: DeepReadonly<Node>, reason: string, message: string) => void;
}

/** As in Kubernetes: the status is checked every ten seconds, and reported every five minutes if nothing has changed. */
const CHECK_MS = 10_000;
const REPORT_MS = 300_000;
const RETRY_MS = 1_000;

type Status = ReturnType<typeof nodeStatus>;

export class NodeReporter {
  readonly #options: NodeReporterOptions;
  #node: DeepReadonly<Node> | undefined;
  #description: MachineDescription | undefined;
  #reported: { readonly status: Status; readonly at: number } | undefined;
  #timer: Timer | undefined;
  #working: Promise<void> | undefined;
  #isAgain = false;

  constructor(options: NodeReporterOptions) {
    this.#options = options;
  }

  get uid(): string | undefined {
    return this.#node?.metadata.uid;
  }

  /** Resources that pods may use, as last reported. */
  get allocatable(): Readonly<Record<string, string>> {
    return this.#description?.allocatable ?? {};
  }

  /** The node as it would register itself: what is known of it while the server does not answer. */
  async expected(): Promise<DeepReadonly<Node>> {
    const { settings } = this.#options;
    const status = await this.#status([]);
    return newNode(settings, status as never, architectureOf(status)) as unknown as DeepReadonly<Node>;
  }

  /** Resolves when the node is registered. */
  async register(): Promise<DeepReadonly<Node>> {
    const { client, settings, signal, emit } = this.#options;
    const status = await this.#status([]);
    const architecture = architectureOf(status);
    const nodes = client.of(Node);
    try {
      this.#node = await nodes.create(newNode(settings, status as never, architecture), { signal });
      this.#reported = { status, at: this.#options.clock.now() };
    } catch (error) {
      if (!isApiError(error, 'AlreadyExists')) throw error;
      const known = await nodes.get(settings.name, { signal });
      const [labels, annotations] = [nodeLabels(settings, architecture), nodeAnnotations(settings)];
      const isDescribed =
        hasAll(known.metadata.labels ?? {}, labels) && hasAll(known.metadata.annotations ?? {}, annotations);
      this.#node = isDescribed
        ? known
        : await nodes.patch(
            settings.name,
            { type: 'merge', changes: { metadata: { labels, annotations } } },
            { signal },
          );
      await this.#report();
    }
    emit(this.#node, 'Starting', 'Starting kubelet.');
    this.#wait(CHECK_MS);
    return this.#node;
  }

  /** Something may have changed. */
  check(): void {
    if (!this.#node) return;
    this.#isAgain = true;
    this.#working ??= this.#work();
  }

  async stopped(): Promise<void> {
    this.#timer?.cancel();
    await this.#working;
  }

  async #work(): Promise<void> {
    const { log, signal } = this.#options;
    let delay = CHECK_MS;
    while (this.#isAgain && !signal.aborted) {
      this.#isAgain = false;
      try {
        await this.#report();
        delay = CHECK_MS;
      } catch (error) {
        if (signal.aborted) return;
        log.warn('cannot report the status of the node', { error: String(error) });
        delay = RETRY_MS;
      }
    }
    this.#working = undefined;
    this.#wait(delay);
  }

  #wait(delay: number): void {
    const { clock, signal } = this.#options;
    this.#timer?.cancel();
    if (!signal.aborted) this.#timer = clock.timer(delay, () => this.check());
  }

  async #report(): Promise<void> {
    const { client, clock, settings, signal, emit } = this.#options;
    const known = this.#reported?.status.conditions ?? conditionsOf(this.#node);
    const status = await this.#status(known);
    const isDue = !this.#reported || clock.now() - this.#reported.at >= REPORT_MS;
    if (!isDue && isSame(status, this.#reported!.status)) return;
    const changes = withLists(status);
    this.#node = await client.of(Node).patchStatus(settings.name, { type: 'strategic', changes }, { signal });
    this.#reported = { status, at: clock.now() };
    const before = known.find(({ type }) => type === 'Ready')?.status;
    const after = status.conditions.find(({ type }) => type === 'Ready')?.status;
    if (before === after) return;
    const reason = after === 'True' ? 'NodeReady' : 'NodeNotReady';
    emit(this.#node, reason, `Node ${settings.name} status is now: ${reason}`);
  }

  async #status(known: Parameters<typeof nodeConditions>[1]): Promise<Status> {
    const { settings, machine, runtime, clock } = this.#options;
    this.#description = await machine.describe();
    const health = await runtime.health().catch(unavailable);
    const images = await runtime.images.list().catch(() => []);
    const { limitation } = runtime;
    const facts = { runtime: health, limitation, pressures: machine.pressures() };
    const conditions = nodeConditions(facts, known, clock.now());
    return nodeStatus({ settings, description: this.#description, images, runtime, conditions });
  }
}

const architectureOf = ({ nodeInfo }: Status) => String(nodeInfo.architecture ?? 'amd64');

const unavailable = (error: unknown): RuntimeHealth => ({
  isReady: false,
  isNetworkReady: false,
  message: error instanceof Error ? error.message : String(error),
});

const conditionsOf = (node: DeepReadonly<Node> | undefined) =>
  (node?.status.conditions ?? []) as Parameters<typeof nodeConditions>[1];

/** Heartbeats alone are no change. */
function isSame(a: Status, b: Status): boolean {
  const timeless = ({ conditions, ...rest }: Status) => ({
    ...rest,
    conditions: conditions.map(({ lastHeartbeatTime: _, ...condition }: NodeCondition) => condition),
  });
  return deepEqual(timeless(a), timeless(b));
}

/** Addresses are merged by type; a list that is replaced has no old entries. */
function withLists({ addresses, ...rest }: Status) {
  return { status: { ...rest, addresses: [{ $patch: 'replace' }, ...addresses] } };
}

function hasAll(known: Readonly<Record<string, string>>, wanted: Readonly<Record<string, string>>): boolean {
  return Object.entries(wanted).every(([key, value]) => known[key] === value);
}
