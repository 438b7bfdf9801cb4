/**
 * Notices changes in the runtime. Everything is compared with its earlier state: at once after an event or a call of
 * our own, and periodically, because events can be lost and some runtimes have none. Without sandboxes and listeners,
 * the runtime is not asked.
 */
import { withResolvers } from '../../base/event-loop/with-resolvers.ts';
import type { Timer } from '../../base/time/clock.ts';
import type { Tools } from '../../base/tools.ts';
import type { Method } from '../../protocols/grpc/call.ts';
import { type GrpcError, GrpcStatus } from '../../protocols/grpc/status.ts';
import type { Decoded } from '../../protocols/protobuf/message.ts';
import type { RuntimeError } from '../runtime/errors.ts';
import type { Connection } from './calls/connection.ts';
import { runtimeError } from './calls/errors.ts';
import { containerdApi, cri } from './calls/methods.ts';
import { type EventEnvelope, TaskExit } from './messages/containerd.ts';

/** States of running sandboxes and containers, by id. */
export type Snapshot = ReadonlyMap<string, { readonly state: string; readonly sandboxId: string }>;

interface ChangesOptions extends Pick<Tools, 'clock' | 'log'> {
  readonly connection: Connection;
  readonly observe: () => Promise<Snapshot>;
}

type Listener = (sandboxId: string | undefined) => void;

/** Interval between two looks when the runtime sends no events. */
const RELIST_MS = 1000;
/** Interval between two looks when it does. */
const RELIST_WITH_EVENTS_MS = 10_000;
/** Delays after an event: containerd sends events before CRI has noticed, which takes it some milliseconds. */
const LOOKS_AFTER_EVENT_MS: readonly number[] = [5, 30, 80, 200];
const RECONNECT_MS = 1000;

export class Changes {
  readonly #listeners = new Set<Listener>();
  #before: Snapshot | undefined;
  #timer: Timer | undefined;
  #looks: Timer[] = [];
  #looking: Promise<void> | undefined;
  #isStale = false;
  /** Signal that is aborted when the last listener leaves. */
  #subscription = new AbortController();
  #hasEvents = false;
  #retry: Timer | undefined;
  #isClosed = false;

  constructor(private readonly options: ChangesOptions) {}

  on(listener: Listener): () => void {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) this.#start();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#stop();
    };
  }

  /** Something may have changed: looks now, and again soon. */
  hint(): void {
    if (this.#listeners.size === 0) return;
    for (const timer of this.#looks) timer.cancel();
    this.#looks = LOOKS_AFTER_EVENT_MS.map((delay) => this.options.clock.timer(delay, () => this.#look()));
  }

  close(): void {
    this.#isClosed = true;
    this.#listeners.clear();
    this.#stop();
  }

  #start(): void {
    this.#subscribe();
    this.#look();
  }

  #stop(): void {
    this.#timer?.cancel();
    for (const timer of this.#looks) timer.cancel();
    this.#retry?.cancel();
    this.#subscription.abort();
    this.#before = undefined;
  }

  /** Runs one comparison at a time, and another one if it was requested meanwhile. */
  #look(): void {
    if (this.#looking) {
      this.#isStale = true;
      return;
    }
    this.#isStale = false;
    this.#looking = this.#compare()
      .catch((error: RuntimeError) => {
        this.options.log.debug('the runtime could not be listed', { error: error.message });
      })
      .finally(() => {
        this.#looking = undefined;
        if (this.#isClosed || this.#listeners.size === 0) return;
        if (this.#isStale) this.#look();
        else this.#schedule();
      });
  }

  #schedule(): void {
    this.#timer?.cancel();
    if (this.#before?.size === 0) return;
    const delay = this.#hasEvents ? RELIST_WITH_EVENTS_MS : RELIST_MS;
    this.#timer = this.options.clock.timer(delay, () => this.#look());
  }

  async #compare(): Promise<void> {
    const now = await this.options.observe();
    const before = this.#before;
    this.#before = now;
    if (!before) {
      // Changes before the first comparison are unknown.
      this.#notify(undefined);
      return;
    }
    const changed = new Set<string>();
    for (const [id, { state, sandboxId }] of now) if (before.get(id)?.state !== state) changed.add(sandboxId);
    for (const [id, { sandboxId }] of before) if (!now.has(id)) changed.add(sandboxId);
    for (const sandboxId of changed) this.#notify(sandboxId || undefined);
  }

  #notify(sandboxId: string | undefined): void {
    for (const listener of this.#listeners) listener(sandboxId);
  }

  #subscribe(): void {
    const { connection, clock, log } = this.options;
    this.#subscription = new AbortController();
    const { signal } = this.#subscription;
    const started = () => {
      this.#hasEvents = true;
    };
    followEvents(connection, { signal, started, event: () => this.hint() })
      .catch((error: RuntimeError) => {
        log.debug('the events of the runtime ended', { error: error.message });
        return 'ended' as const;
      })
      .then((end) => {
        this.#hasEvents = false;
        if (signal.aborted) return;
        this.#look();
        if (end === 'ended') this.#retry = clock.timer(RECONNECT_MS, () => this.#subscribe());
      });
  }
}

interface EventFollower {
  readonly signal: AbortSignal;
  /** Called when the runtime has events, before the first one. */
  started(): void;
  event(): void;
}

const TOPICS = ['/tasks/start', '/tasks/exit', '/tasks/oom'].map((topic) => `topic=="${topic}"`);

/**
 * Follows the events of a runtime: those of CRI (containerd 1.7 and newer), or else those of containerd itself.
 * Resolves when they have ended, or when the runtime has neither. Rejects with RuntimeError when the runtime cannot be
 * reached.
 */
async function followEvents(connection: Connection, follower: EventFollower): Promise<'ended' | 'unsupported'> {
  const end = await follow(connection, cri.events, {}, follower, () => true);
  if (end !== 'unsupported') return end;
  return follow(connection, containerdApi.events, { filters: TOPICS }, follower, isOfContainer);
}

/** Commands that are run in a container end with the same event, under another id. */
function isOfContainer({ topic, event }: Decoded<typeof EventEnvelope>): boolean {
  if (topic !== '/tasks/exit' || !event) return true;
  const { containerId, id } = TaskExit.decode(event.value);
  return containerId === id;
}

async function follow<In, Out>(
  connection: Connection,
  method: Method<In, Out>,
  request: In,
  { signal, started, event }: EventFollower,
  matters: (message: Out) => boolean,
): Promise<'ended' | 'unsupported'> {
  const { promise: end, resolve: settle } = withResolvers<GrpcError | undefined>();
  const stream = await connection.follow(method, request, {
    message: (message) => {
      started();
      if (matters(message)) event();
    },
    ended: (error) => settle(error),
  });
  const cancel = () => {
    stream.cancel();
    settle(undefined);
  };
  if (signal.aborted) cancel();
  signal.addEventListener('abort', cancel, { once: true });
  const error = await end;
  signal.removeEventListener('abort', cancel);
  if (error?.code === GrpcStatus.UNIMPLEMENTED) return 'unsupported';
  if (error) throw runtimeError(error);
  return 'ended';
}
