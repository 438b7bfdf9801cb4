/** Cluster as tests use it: implements the contract on the parts of a cluster. */
import { isApiError } from '../../api/errors.ts';
import { ChangeCounter } from '../../server/objects/cache/change-counter.ts';
import type { DirectHandle } from '../../server/serving/direct.ts';
import type {
  ActiveFault,
  Client,
  Cluster,
  ClusterOptions,
  Duration,
  Fault,
  HistoryEntry,
  KubeObject,
  Manifest,
  Reference,
  SettleOptions,
  Snapshot,
  WaitOptions,
} from '../contract.ts';
import { readFault } from '../faults/read-fault.ts';
import { apply } from '../objects/apply.ts';
import { ADMIN, testClient } from '../objects/client.ts';
import { historyOf } from '../objects/history.ts';
import { Kinds } from '../objects/kinds.ts';
import { tracedCalls } from '../objects/traced-calls.ts';
import { TimeControl } from '../time/time-control.ts';
import type { ServedApi } from './https.ts';
import { ClusterSnapshot } from './snapshot.ts';
import { type Parts, startParts } from './start.ts';

const SIMULATED = 'simulated.kubernetes.io';
/** Releases of Node before 20.5 do not have it. */
const ASYNC_DISPOSE: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose');

/** Options that the package adds to clusters that its users start. */
export interface FactoryOptions {
  /** The initial image that the build has saved. */
  readonly imageFile?: string;
  /** Called after a cluster was stopped. */
  readonly afterStop?: () => void;
}

type Condition = string | ((object: KubeObject) => boolean);

export class TestCluster implements Cluster {
  readonly client: Client;
  readonly #parts: Parts;
  readonly #kinds: Kinds;
  readonly #time: TimeControl;
  readonly #changes: ChangeCounter;
  readonly #direct: DirectHandle;
  #served: Promise<ServedApi> | undefined;
  #stopped: Promise<void> | undefined;
  readonly #afterStop: (() => void) | undefined;

  private constructor(parts: Parts, afterStop?: () => void) {
    const { server, clock, activity, store } = parts;
    this.#changes = new ChangeCounter(store, store.revision());
    this.#parts = parts;
    this.#afterStop = afterStop;
    this.#kinds = new Kinds(server.registry);
    this.#direct = tracedCalls(server.direct(ADMIN));
    this.client = testClient(this.#kinds, server.direct);
    this.#time = new TimeControl({
      clock,
      activity,
      changes: () => this.#changes.count,
      lastChange: () => this.#changes.last,
    });
  }

  static async start(
    options: ClusterOptions = {},
    { imageFile, afterStop }: FactoryOptions = {},
  ): Promise<TestCluster> {
    return new TestCluster(await startParts(options, imageFile), afterStop);
  }

  get seed(): number {
    return this.#parts.seed;
  }

  get now(): Date {
    return new Date(this.#parts.clock.now());
  }

  get(reference: Reference): Promise<KubeObject> {
    const { kind, version, namespace, name } = this.#kinds.locate(reference);
    const resource = this.client.of(`${kind.plural}${kind.group ? `.${kind.group}` : ''}`, version.apiVersion);
    return (namespace === undefined ? resource : resource.in(namespace)).get(name);
  }

  async apply(...manifests: readonly (string | Manifest)[]): Promise<KubeObject[]> {
    await this.#time.idle();
    return apply({ kinds: this.#kinds, direct: this.#direct }, manifests);
  }

  waitFor(object: Reference, condition: Condition, options?: WaitOptions): Promise<KubeObject>;
  waitFor(condition: () => boolean | Promise<boolean>, options?: WaitOptions): Promise<void>;
  async waitFor(
    target: Reference | (() => boolean | Promise<boolean>),
    second?: Condition | WaitOptions,
    options?: WaitOptions,
  ): Promise<unknown> {
    if (typeof target === 'function') {
      const holds = async () => ((await target()) ? true : undefined);
      await this.#time.until(holds, () => 'the condition did not hold', second as WaitOptions | undefined);
      return undefined;
    }
    let last: KubeObject | undefined;
    const read = async () => {
      last = await this.#getIfThere(target);
      return last && holds(last, second as Condition) ? last : undefined;
    };
    const { kind, namespace, name } = this.#kinds.locate(target);
    const what = `${kind.kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;
    const wanted = typeof second === 'string' ? `was not ${second}` : 'did not fulfil the condition';
    const state = () => (last ? `; its status was ${JSON.stringify(last.status ?? {})}` : ', and does not exist');
    return this.#time.until(read, () => `${what} ${wanted}${state()};`, options);
  }

  settle(options?: SettleOptions): Promise<void> {
    return this.#time.settle(options);
  }

  advance(time: Duration): Promise<void> {
    return this.#time.advance(time);
  }

  async snapshot(): Promise<Snapshot> {
    return this.#snapshot();
  }

  async fork(): Promise<Cluster> {
    return TestCluster.start({ from: await this.#snapshot() });
  }

  async failNode(name: string): Promise<void> {
    await this.#annotate('node', name, undefined, { [`${SIMULATED}/down`]: 'true' });
  }

  async recoverNode(name: string): Promise<void> {
    await this.#annotate('node', name, undefined, { [`${SIMULATED}/down`]: null });
  }

  async cutNetwork(...nodes: readonly string[]): Promise<() => Promise<void>> {
    for (const name of nodes) await this.failNode(name);
    return async () => {
      for (const name of nodes) await this.recoverNode(name);
    };
  }

  async crashPod(
    reference: Reference,
    { exitCode = 1, reason, container }: Parameters<Cluster['crashPod']>[1] = {},
  ): Promise<void> {
    const { namespace, name } = this.#kinds.locate(reference);
    const ending = {
      takes: '0',
      exitCode,
      reason: reason || undefined,
      containers: container ? [container] : undefined,
    };
    const run = `${SIMULATED}/run`;
    const before = (await this.get(reference)).metadata.annotations?.[run] ?? null;
    await this.#annotate('pod', name, namespace, { [run]: JSON.stringify(ending) });
    await this.#time.advance(0);
    await this.#annotate('pod', name, namespace, { [run]: before });
  }

  addFault(fault: Fault): ActiveFault {
    return this.#parts.faults.add(readFault(fault));
  }

  stallStore(): () => void {
    return this.#parts.gate.stall();
  }

  async history(reference: Reference): Promise<HistoryEntry[]> {
    return historyOf(this.#parts.store, this.#kinds.locate(reference));
  }

  async kubeconfig(): Promise<string> {
    this.#served ??= this.#serve();
    return (await this.#served).kubeconfig;
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  [ASYNC_DISPOSE](): Promise<void> {
    return this.stop();
  }

  async #stop(): Promise<void> {
    if (this.#served) await (await this.#served).close();
    await this.#parts.stop();
    this.#afterStop?.();
  }

  async #serve(): Promise<ServedApi> {
    const { serve } = await import('./https.ts');
    const served = await serve(this.#parts);
    this.#parts.activity.changes = () => this.#changes.count;
    return served;
  }

  async #snapshot(): Promise<ClusterSnapshot> {
    await this.#time.idle();
    const { seed, nodes, simulation, clock, random, store } = this.#parts;
    return new ClusterSnapshot({
      seed,
      nodes,
      simulation,
      now: clock.now(),
      random: random.state,
      image: store.image(),
    });
  }

  async #getIfThere(reference: Reference): Promise<KubeObject | undefined> {
    try {
      return await this.get(reference);
    } catch (error) {
      if (isApiError(error, 'NotFound')) return undefined;
      throw error;
    }
  }

  /** Sets annotations, and lets happen what follows at once. */
  async #annotate(
    kind: string,
    name: string,
    namespace: string | undefined,
    annotations: Readonly<Record<string, string | null>>,
  ): Promise<void> {
    const resource = this.client.of(kind);
    const changes = { metadata: { annotations } };
    await (namespace === undefined ? resource : resource.in(namespace)).patch(name, { type: 'merge', changes });
    await this.#time.idle();
  }
}

function holds(object: KubeObject, condition: Condition): boolean {
  if (typeof condition === 'function') return condition(object);
  const conditions: readonly { type: string; status: string }[] = object.status?.conditions ?? [];
  return conditions.some(({ type, status }) => type === condition && status === 'True');
}
