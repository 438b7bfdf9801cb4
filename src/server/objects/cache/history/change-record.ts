import type { WatchEvent } from '../../../../api/reply.ts';
import { allocateSharable, isShared } from '../../../../base/bytes/shared-buffer.ts';
import type { KubeObject } from '../../../../kinds/kind.ts';
import type { Resource } from '../../registry/registry.ts';
import { writeSpliced } from '../entry/encoding.ts';
import type { Entry } from '../entry/entry.ts';
import type { ObjectKey } from '../keys.ts';

/** Estimated memory of a change besides the bytes of the object: the entry, its parts and key, and the events. */
const RECORD_BYTES = 1024;

/** A change of one object at one revision. Its events are encoded once for all watches. */
export class ChangeRecord {
  #events: { type: EventType; resource: Resource; event: ObjectEvent }[] | undefined;
  #gone: Entry | undefined;

  constructor(
    readonly revision: number,
    readonly at: ObjectKey,
    readonly entry: Entry | undefined,
    readonly previous: Entry | undefined,
  ) {}

  /** The memory of the change, including the previous object, which is kept only for it. */
  get size(): number {
    return RECORD_BYTES + (this.previous?.size ?? 0);
  }

  /** Drops everything that can be recreated from the bytes: the change stays in the history for minutes. */
  settle(): void {
    this.#gone?.retire();
    for (const { event } of this.#events ?? []) event.settle();
  }

  /**
   * Returns the event for watches of a resource. An object that was deleted, or that a watch no longer selects, is
   * shown in its state before the change, with the revision of the change.
   */
  event(type: EventType, resource: Resource): WatchEvent {
    for (const known of this.#events ?? []) {
      if (known.type === type && known.resource === resource) return known.event;
    }
    const event = new ObjectEvent(type, this.#shown(type), resource);
    this.#events ??= [];
    this.#events.push({ type, resource, event });
    return event;
  }

  #shown(type: EventType): Entry {
    const { entry, previous } = this;
    if (type !== 'DELETED' && entry) return entry;
    if (!previous) throw new Error(`change ${this.revision} of ${this.at.key} has no previous object`);
    this.#gone ??= previous.movedTo(this.revision);
    return this.#gone;
  }
}

type EventType = 'ADDED' | 'MODIFIED' | 'DELETED';

export class ObjectEvent implements WatchEvent {
  #json: Buffer | undefined;
  /** The bytes of a large or settled event, kept only while they are being sent. */
  #sentJson: WeakRef<Buffer> | undefined;
  #isSettled = false;

  constructor(
    readonly type: EventType,
    readonly entry: Entry,
    readonly resource: Resource,
  ) {}

  get object(): KubeObject {
    return this.entry.view(this.resource).object;
  }

  /** Returns the event for a watch in this process, with the object if it is at hand: later it may be replaced. */
  held(): ObjectEvent {
    const object = this.entry.hold(this.resource);
    return object ? new HeldEvent(this, object) : this;
  }

  json(): Buffer {
    const known = this.#json ?? this.#sentJson?.deref();
    if (known) return known;
    const head = HEADS[this.type];
    const source = this.entry.view(this.resource).jsonSource();
    const json = allocateSharable(head.length + source.length + TAIL.length);
    json.set(head, 0);
    json.set(TAIL, writeSpliced(source, json, head.length));
    if (this.#isSettled || isShared(json)) this.#sentJson = new WeakRef(json);
    else this.#json = json;
    return json;
  }

  /** Drops the bytes, and keeps none from now on. */
  settle(): void {
    this.#isSettled = true;
    this.#json = undefined;
  }
}

class HeldEvent extends ObjectEvent {
  readonly #object: KubeObject;

  constructor({ type, entry, resource }: ObjectEvent, object: KubeObject) {
    super(type, entry, resource);
    this.#object = object;
  }

  override get object(): KubeObject {
    return this.#object;
  }
}

const HEADS = {
  ADDED: Buffer.from('{"type":"ADDED","object":'),
  MODIFIED: Buffer.from('{"type":"MODIFIED","object":'),
  DELETED: Buffer.from('{"type":"DELETED","object":'),
};
const TAIL = Buffer.from('}\n');
