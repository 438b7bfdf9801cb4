import type { Call } from '../../../api/call.ts';
import { ApiError, isApiError, type Status } from '../../../api/errors.ts';
import type { WatchBatch, WatchConsumer, WatchEvent, WatchReply } from '../../../api/reply.ts';
import { type FieldError, forbidden, notSupported } from '../../../schema/field-error.ts';
import { invalidObject } from '../../objects/body/check.ts';
import type { MaybeAsync } from '../../objects/conversion/convert.ts';
import type { Reader, Tools } from '../../objects/ports.ts';
import { channelOf } from '../../objects/reads/async-watch-channel.ts';
import { parseRevision, waitForRevision } from '../../objects/reads/freshness.ts';
import { mayTakeTurns, readInTurns, type Selection, selectionOf } from '../../objects/reads/selection.ts';
import { batchOf } from '../../objects/reads/watch-channel.ts';
import { WatchOutput } from '../../objects/reads/watch-output.ts';
import type { ApiRequest, Resource } from '../../objects/registry/registry.ts';
import type { Streams } from '../ports.ts';

type Ports = Pick<Reader, 'cache' | 'turns'> &
  Pick<Tools, 'clock' | 'random'> &
  Pick<Streams, 'watches' | 'minWatchMs'>;

/** Watches an object or a list: from now on, from a revision, or with the current objects first. */
export async function watch(core: Ports, { resource, call }: ApiRequest): Promise<WatchReply> {
  checkOptions(call);
  const selection = selectionOf(resource, call);
  const { options = {} } = call;
  const asked = parseRevision(options.resourceVersion);
  const initial = options.sendInitialEvents ?? !asked;
  const marked = options.sendInitialEvents === true;
  const wait = initial ? (asked ? waitForRevision(core, asked, call) : core.cache.fresh()) : undefined;
  if (wait) await wait;
  const from = initial || !asked ? undefined : asked;
  if (initial && isSelective(call)) await readSelected(core, resource, call, selection);
  return new RunningWatch(core, resource, call, { selection, from, initial, marked });
}

const isSelective = ({ options = {} }: Call) => Boolean(options.labelSelector || options.fieldSelector);

/** Decodes the parts of many or large objects that a selector reads, so that selecting them below is quick. */
async function readSelected(core: Ports, { kind }: Resource, call: Call, selection: Selection): Promise<void> {
  const entries = core.cache.table(kind).entries(call.namespace ?? '');
  // Asynchronous conversions happen when the watch waits for them.
  if (kind.conversion || !mayTakeTurns(entries)) return;
  try {
    await readInTurns(core.turns, entries, selection.matches);
  } catch {
    // An object that cannot be read ends the watch when it starts.
  }
}

interface Start {
  readonly selection: Selection;
  /** The revision after which changes are sent; undefined: from now. */
  readonly from: number | undefined;
  /** True to send the current objects first, as ADDED. */
  readonly initial: boolean;
  /** True to mark the end of the current objects with a bookmark. */
  readonly marked: boolean;
}

class RunningWatch implements WatchReply {
  readonly type = 'watch';
  #consumer: WatchConsumer | undefined;
  #leave: (() => void) | undefined;
  #over = false;
  #timer: { cancel: () => void } | undefined;
  /** The newest revision that was sent to the client. */
  #sentRevision = 0;
  #output: WatchOutput | undefined;
  /** The last pending batch: see conversion/. */
  #sending: Promise<void> | undefined;

  constructor(
    readonly core: Ports,
    readonly resource: Resource,
    readonly call: Call,
    readonly start: Start,
  ) {}

  attach(consumer: WatchConsumer): void {
    const { core, call } = this;
    this.#consumer = consumer;
    this.#output = new WatchOutput(consumer, core.watches.backlogs, () => this.#end());
    const seconds = call.options?.timeoutSeconds;
    const lasting = seconds ? seconds * 1000 : core.minWatchMs + core.random.int(core.minWatchMs);
    this.#timer = core.clock.timer(lasting, () => this.#finish());
    void this.#begin();
  }

  stop(): void {
    this.#over = true;
    this.#timer?.cancel();
    this.#output?.close();
    this.#leave?.();
    this.#leave = undefined;
  }

  async #begin(): Promise<void> {
    const { start } = this;
    try {
      if (start.from !== undefined) await this.#reach(start.from);
      if (!this.#over) this.#join();
    } catch (error) {
      this.#fail(error);
    }
  }

  #join(): void {
    const { core, start, resource } = this;
    const { revision } = core.cache;
    // No other code runs from here to the end, so no change falls between the current objects and the first event.
    const events = this.#initialEvents();
    this.#sentRevision = revision;
    const leave = core.watches.join(
      { resource, namespace: this.call.namespace ?? '', selection: start.selection },
      {
        deliver: (batch) => this.#send(batch),
        bookmark: () => this.#bookmark(),
        end: () => this.#finish(),
        fail: (error) => this.#fail(error),
      },
    );
    if (!leave) {
      this.#end();
      return;
    }
    this.#leave = leave;
    const batchOfAll = (all: WatchEvent[]) =>
      batchOf(start.marked ? [...all, bookmarkEvent(resource, revision, true)] : all);
    this.#send(events instanceof Promise ? events.then(batchOfAll) : batchOfAll(events), true);
  }

  #initialEvents(): MaybeAsync<WatchEvent[]> {
    const { core, resource, start } = this;
    const namespace = this.call.namespace ?? '';
    const channel = channelOf(resource, namespace, start.selection);
    const table = core.cache.table(resource.kind);
    if (start.initial) return channel.present(table.entries(namespace));
    return start.from === undefined ? [] : channel.eventsOf(table.changesAfter(start.from));
  }

  /** Waits for a future revision, and loads the history since a past one. */
  async #reach(revision: number): Promise<void> {
    await waitForRevision(this.core, revision, this.call);
    await this.core.cache.remember(revision);
  }

  /** Delivers a batch after earlier ones, some of which may still be pending. */
  #send(batch: MaybeAsync<WatchBatch>, isInitial = false): void {
    const before = this.#sending;
    if (!before && !(batch instanceof Promise)) {
      this.#deliver(batch, isInitial);
      return;
    }
    const sending = Promise.all([batch, before])
      .then(([ready]) => this.#deliver(ready, isInitial))
      .catch((error: unknown) => this.#fail(error))
      .finally(() => {
        if (this.#sending === sending) this.#sending = undefined;
      });
    this.#sending = sending;
  }

  #deliver(batch: WatchBatch, isInitial: boolean): void {
    if (this.#over) return;
    this.#sentRevision = this.core.cache.revision;
    this.#output?.send(batch, isInitial);
  }

  #bookmark(): void {
    const { revision } = this.core.cache;
    // A bookmark would claim that the client has seen the events before it, which it may never read.
    if (this.#output?.isBehind) return;
    if (this.#over || !this.call.options?.allowWatchBookmarks || revision <= this.#sentRevision) return;
    this.#send(batchOf([bookmarkEvent(this.resource, revision, false)]));
  }

  /** Ends the watch on timeout or shutdown, with a final bookmark for clients that requested bookmarks. */
  #finish(): void {
    if (!this.#sending) this.#bookmark();
    this.#end();
  }

  #end(): void {
    if (this.#over) return;
    this.stop();
    this.#consumer?.end();
  }

  #fail(error: unknown): void {
    if (this.#over) return;
    const failure = isApiError(error) ? error : new ApiError('InternalError', String(error), { cause: error });
    this.#consumer?.events(batchOf([statusEvent(failure.toStatus())]));
    this.#end();
  }
}

function bookmarkEvent({ kind, version }: Resource, revision: number, initialEnd: boolean): WatchEvent {
  const object = {
    kind: kind.kind,
    apiVersion: version.apiVersion,
    metadata: {
      resourceVersion: String(revision),
      annotations: initialEnd ? { 'k8s.io/initial-events-end': 'true' } : undefined,
    },
  };
  return { type: 'BOOKMARK', object, json: () => lineOf('BOOKMARK', object) };
}

function statusEvent(status: Status): WatchEvent {
  return { type: 'ERROR', object: status, json: () => lineOf('ERROR', status) };
}

function lineOf(type: string, object: unknown): Buffer {
  return Buffer.from(`${JSON.stringify({ type, object })}\n`);
}

function checkOptions({ options = {} }: Call): void {
  const { resourceVersionMatch: match, sendInitialEvents } = options;
  const errors: FieldError[] = [];
  if (sendInitialEvents !== undefined && match !== 'NotOlderThan') {
    errors.push(
      forbidden('resourceVersionMatch', 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'),
    );
  }
  if (match) {
    if (sendInitialEvents === undefined) {
      errors.push(
        forbidden(
          'resourceVersionMatch',
          'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
        ),
      );
    }
    if (match !== 'NotOlderThan') errors.push(notSupported('resourceVersionMatch', match, ['NotOlderThan']));
    if (options.continue)
      errors.push(forbidden('resourceVersionMatch', 'resourceVersionMatch is forbidden when continue is provided'));
  }
  if (errors.length > 0) throw invalidObject({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', errors);
}
