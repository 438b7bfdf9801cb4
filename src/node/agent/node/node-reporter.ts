/**
 * Registers the node, and keeps its status in the API what the machine is like: it is written when it has changed, when another
 * client has changed it, and from time to time.
 */

import { isApiError } from '../../../api/errors.ts';
import type { DeepReadonly } from '../../../api/object-types.ts';
import { deepEqual } from '../../../base/json/tree.ts';
import { ReconcileLoop } from '../../../base/reconcile/reconcile-loop.ts';
import type { BackoffOptions } from '../../../base/time/backoff.ts';
import type { ClientTools } from '../../../client/client.ts';
import { Node } from '../../../kinds/groups/core/node/node.ts';
import type { MachineDescription } from '../../machine/describe.ts';
import type { Runtime, RuntimeHealth } from '../../runtime/runtime.ts';
import type { Machine } from './machine.ts';
import { type NodeSettings, newNode, nodeAnnotations, nodeConditions, nodeLabels, nodeStatus } from './node-object.ts';

export interface NodeReporterOptions extends ClientTools {
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
const RETRY: BackoffOptions = { base: 1_000, max: CHECK_MS };
/** A node that reports late is marked as lost. */
const TIMEOUT_MS = 10_000;
/** The one key of the loop. */
const NODE = 'node';

type Status = ReturnType<typeof nodeStatus>;

interface Reported {
  readonly status: Status;
  /** The node as the API returned it for this status. */
  readonly answer: DeepReadonly<Node>;
  readonly at: number;
}

export class NodeReporter {
  readonly #loop: ReconcileLoop;
  readonly #end = new AbortController();
  /** The newest version of the Node object that is known. */
  #node: DeepReadonly<Node> | undefined;
  /** When the Node was read or written last. */
  #readAt = Number.NEGATIVE_INFINITY;
  #correctedAt = Number.NEGATIVE_INFINITY;
  #description: MachineDescription | undefined;
  #reported: Reported | undefined;
  #running: Promise<void> | undefined;

  constructor(private readonly options: NodeReporterOptions) {
    const { clock, random, log, signal } = options;
    this.#loop = new ReconcileLoop({
      clock,
      random,
      log,
      backoff: RETRY,
      failure: 'cannot report the status of the node',
      reconcile: () => this.#reconcile(),
    });
    signal.addEventListener('abort', () => this.#end.abort(), { once: true });
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
    const { settings } = this.options;
    const status = await this.#status([]);
    return newNode(settings, status as never, architectureOf(status)) as unknown as DeepReadonly<Node>;
  }

  /** Resolves when the node is registered. */
  async register(): Promise<DeepReadonly<Node>> {
    const { client, settings, signal, emit } = this.options;
    const status = await this.#status([]);
    const architecture = architectureOf(status);
    const nodes = client.of(Node);
    try {
      this.#wrote(status, await nodes.create(newNode(settings, status as never, architecture), { signal }));
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
    const node = this.#node!;
    emit(node, 'Starting', 'Starting kubelet.');
    this.#running ??= this.#loop.run(this.#end.signal);
    this.#loop.addAfter(NODE, CHECK_MS);
    return node;
  }

  /** The machine or its runtime may have changed. */
  check(): void {
    if (this.#node) this.#loop.add(NODE);
  }

  /** The API may have changed without a word: it could not be reached. */
  reread(): void {
    this.#readAt = Number.NEGATIVE_INFINITY;
    this.check();
  }

  /** The API shows this version of the node. */
  seen(node: DeepReadonly<Node>): void {
    if (!this.#node || versionOf(node) <= versionOf(this.#node)) return;
    this.#node = node;
    if (this.#isTaken(node)) return;
    if (!this.#isShown()) this.check();
  }

  /** Ends the reports, and resolves when the last one was sent. */
  async stopped(): Promise<void> {
    this.#end.abort();
    await this.#running;
  }

  async #reconcile(): Promise<void> {
    const { client, clock, settings, signal } = this.options;
    if (clock.now() - this.#readAt >= CHECK_MS) {
      this.#node = await client.of(Node).get(settings.name, { signal, timeoutMs: TIMEOUT_MS });
      this.#readAt = clock.now();
      if (this.#isTaken(this.#node)) return;
    }
    await this.#report();
    this.#loop.addAfter(NODE, this.#readAt + CHECK_MS - clock.now());
  }

  /** Both machines would answer each report of the other with one of their own. */
  #isTaken(node: DeepReadonly<Node>): boolean {
    const { ownership } = this.options.settings;
    const owner = ownership && node.metadata.annotations?.[ownership.annotation];
    if (owner === undefined || owner === ownership?.id) return false;
    if (!this.#end.signal.aborted) ownership?.onTaken(node);
    this.#end.abort();
    return true;
  }

  async #report(): Promise<void> {
    const { client, clock, settings, signal, emit } = this.options;
    const known = conditionsOf(this.#node);
    const status = await this.#status(known);
    const isDue = !this.#reported || clock.now() - this.#reported.at >= REPORT_MS;
    const isOverwritten = !this.#isShown();
    // Another machine of this name would answer each write with one of its own.
    const isToCorrect = isOverwritten && clock.now() - this.#correctedAt >= CHECK_MS;
    if (!isDue && !isToCorrect && isSame(status, this.#reported!.status)) return;
    const changes = withLists(status);
    const asked = { signal, timeoutMs: TIMEOUT_MS };
    const node = await client.of(Node).patchStatus(settings.name, { type: 'strategic', changes }, asked);
    if (isOverwritten) this.#correctedAt = clock.now();
    this.#wrote(status, node);
    const before = known.find(({ type }) => type === 'Ready')?.status;
    const after = status.conditions.find(({ type }) => type === 'Ready')?.status;
    if (before === after) return;
    const reason = after === 'True' ? 'NodeReady' : 'NodeNotReady';
    emit(node, reason, `Node ${settings.name} status is now: ${reason}`);
  }

  #wrote(status: Status, answer: DeepReadonly<Node>): void {
    const now = this.options.clock.now();
    if (!this.#node || versionOf(this.#node) < versionOf(answer)) this.#node = answer;
    this.#readAt = now;
    this.#reported = { status, answer, at: now };
  }

  /** Reports whether the API shows what it returned for the last report: it may store something else than it was sent. */
  #isShown(): boolean {
    const reported = this.#reported;
    if (!reported || !this.#node) return false;
    return deepEqual(shownOf(this.#node, reported.status), shownOf(reported.answer, reported.status));
  }

  async #status(known: Parameters<typeof nodeConditions>[1]): Promise<Status> {
    const { settings, machine, runtime, clock } = this.options;
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

/** Heartbeats alone are no change; transition times depend on what the API shows. */
function isSame(a: Status, b: Status): boolean {
  const timeless = ({ conditions, ...rest }: Status) => ({
    ...rest,
    conditions: conditions.map(({ lastHeartbeatTime: _, lastTransitionTime: __, ...condition }) => condition),
  });
  return deepEqual(timeless(a), timeless(b));
}

/** Returns what the node shows in the fields and conditions of this status. Others belong to other clients. */
function shownOf({ status }: DeepReadonly<Node>, { conditions, ...rest }: Status) {
  const shown = status as Readonly<Record<string, unknown>>;
  return [
    ...Object.keys(rest).map((field) => shown[field]),
    ...conditions.map(({ type }) => {
      const { lastHeartbeatTime: _, ...condition } = status.conditions?.find((each) => each.type === type) ?? {};
      return condition;
    }),
  ];
}

const versionOf = ({ metadata }: DeepReadonly<Node>) => Number(metadata.resourceVersion);

/** Addresses are merged by type; a list that is replaced has no old entries. */
function withLists({ addresses, ...rest }: Status) {
  return { status: { ...rest, addresses: [{ $patch: 'replace' }, ...addresses] } };
}

function hasAll(known: Readonly<Record<string, string>>, wanted: Readonly<Record<string, string>>): boolean {
  return Object.entries(wanted).every(([key, value]) => known[key] === value);
}
