import { deepEqual, deepFreeze } from '../../../../base/json/tree.ts';
import type { Kind, KubeObject, Version } from '../../../../kinds/kind.ts';
import { fromHub, toHub } from '../../conversion/convert.ts';
import type { Resource } from '../../registry/registry.ts';
import type { ObjectKey } from '../keys.ts';
import { type Before, type Encoded, hasHead, selfLinkOf } from './encoding.ts';
import type { Provenance } from './provenance.ts';
import type { RecentBytes } from './recent-bytes.ts';
import { decodeStored, parseStored, type StoredObject } from './stored-object.ts';
import { UnreadableObject } from './unreadable.ts';
import { View } from './view.ts';

export interface Content {
  readonly stored: Buffer;
  readonly provenance: Provenance;
  /** Positions of the parts of the bytes, if this process wrote them. */
  readonly parts?: Encoded['parts'] | undefined;
  /** The object as this process wrote it, in the stored version. */
  readonly written?: KubeObject | undefined;
  /** The error if the stored bytes cannot be read; they are empty then. */
  readonly damage?: Error | undefined;
  /** The revision at which the bytes were written, if it differs from the entry's own. */
  readonly writtenAt?: number;
}

/** Data derived from an entry, on demand. Without it, an entry answers the same, but has to compute it again. */
class Derived {
  hub: View | undefined;
  others: View[] | undefined;
  mentionsInitializers: boolean | undefined;
  /** The definition whose head the bytes are known to begin with. */
  headOf: Kind | undefined;
  isUnreadable = false;
  /** True once code in this process has asked to keep the object. */
  isHeld = false;

  /** `written` is the object as this process wrote it, until a view has it: that avoids parsing. */
  constructor(public written: KubeObject | undefined) {}
}

/**
 * An object at one revision. What is stored never changes; every form it is served in is derived at most once, on demand.
 *
 * The bytes name the version in which they are stored. Readers pass the definition of the kind: bytes that another
 * definition wrote are decoded in their own version and converted. If that is impossible, every method that takes a
 * kind throws an UnreadableObject.
 */
export class Entry {
  readonly #stored: Buffer;
  readonly #provenance: Provenance;
  readonly #parts: Encoded['parts'] | undefined;
  readonly #writtenAt: number;
  readonly #damage: Error | undefined;
  readonly #derived: Derived;

  constructor(
    readonly at: ObjectKey,
    readonly revision: number,
    content: Content,
  ) {
    this.#stored = content.stored;
    this.#provenance = content.provenance;
    this.#parts = content.parts;
    this.#writtenAt = content.writtenAt ?? revision;
    this.#damage = content.damage;
    this.#derived = new Derived(content.written);
  }

  get recent(): RecentBytes {
    return this.#provenance.recent;
  }

  get size(): number {
    return this.#stored.length;
  }

  get stored(): Buffer {
    return this.#stored;
  }

  /** Reports whether the object is certainly readable and without initializers, judging by its bytes alone. */
  isKnownInitialized(kind: Kind): boolean {
    if (!this.#isCurrent(kind)) return false;
    this.#derived.mentionsInitializers ??= this.#stored.includes(INITIALIZERS);
    return !this.#derived.mentionsInitializers;
  }

  /** Returns the parts that a change of the object can reuse; undefined when it is not exactly what is stored. */
  before(kind: Kind): Before | undefined {
    if (!this.#parts || !this.#isCurrent(kind)) return undefined;
    return { object: this.hub(kind), encoded: { bytes: this.#stored, parts: this.#parts } };
  }

  /**
   * Reports whether the stored bytes are what a write of the object would store today. If not, even an update without
   * changes is written, so that clients can migrate objects to the current stored version.
   */
  isUpToDate(kind: Kind): boolean {
    if (this.#isCurrent(kind)) return true;
    const { metadata, ...object } = this.hub(kind);
    const { selfLink: _, resourceVersion: __, ...own } = metadata;
    return deepEqual(parseStored(this.#stored), { ...object, metadata: own });
  }

  view({ kind, version }: Resource): View {
    if (version === kind.hub) return this.#inHub(kind);
    for (const view of this.#derived.others ?? []) if (view.version === version) return view;
    const view = new View(this, kind, version, { object: this.#converted(kind, version) });
    this.#derived.others ??= [];
    this.#derived.others.push(view);
    return view;
  }

  /** Returns the object in the stored version. */
  hub<T extends KubeObject>(kind: Kind<T>): T {
    return this.#inHub(kind).object as T;
  }

  /** Returns the object for code in this process that keeps it; undefined if it had to be read or converted first. */
  hold({ kind, version }: Resource): KubeObject | undefined {
    if (version !== kind.hub || !this.#isCurrent(kind)) return undefined;
    this.#derived.isHeld = true;
    return this.#derived.written || this.#derived.hub?.isRead ? this.hub(kind) : undefined;
  }

  get isHeld(): boolean {
    return this.#derived.isHeld;
  }

  /** True when a reader has found that the object cannot be read. */
  get isUnreadable(): boolean {
    return this.#derived.isUnreadable;
  }

  /** Returns the error if the object cannot be read; undefined otherwise. */
  failure(kind: Kind): UnreadableObject | undefined {
    try {
      this.hub(kind);
      return undefined;
    } catch (error) {
      if (error instanceof UnreadableObject) return error;
      throw error;
    }
  }

  /** Reports whether the object can be shown in this version without waiting for an asynchronous conversion. */
  isReady({ kind, version }: Resource): boolean {
    if (!kind.conversion) return true;
    if (this.#derived.hub?.kind === kind)
      return version === kind.hub || this.#derived.others?.some((view) => view.version === version) === true;
    return version === kind.hub && (this.#isCurrent(kind) || this.decode(kind).version === kind.hub);
  }

  /** Decodes the stored bytes in their own version, with its defaults. */
  decode(kind: Kind): StoredObject {
    if (this.#damage) throw this.#unreadable(this.#damage);
    try {
      return decodeStored(this.#stored, kind);
    } catch (cause) {
      throw this.#unreadable(cause);
    }
  }

  /** Accepts the result of an asynchronous conversion. */
  accept({ kind, version }: Resource, object: KubeObject): void {
    const view = new View(this, kind, version, { object: this.#complete(object, kind, version) });
    if (version === kind.hub) {
      this.#derived.hub = view;
      this.#derived.others = undefined;
    } else {
      this.#derived.others ??= [];
      this.#derived.others.push(view);
    }
  }

  /** Returns the same content at a later revision, which is sent to watchers that no longer see the object. */
  movedTo(revision: number): Entry {
    return new Entry(this.at, revision, {
      stored: this.#stored,
      provenance: this.#provenance,
      damage: this.#damage,
      writtenAt: this.#writtenAt,
    });
  }

  /** Drops everything but the bytes of an object that few will request, such as one replaced by a newer entry. */
  retire(): void {
    this.#derived.written = undefined;
    // Asynchronously converted views stay: a request that has waited reads them without waiting again.
    if (this.#derived.hub?.kind.conversion) return;
    this.#derived.hub = undefined;
    this.#derived.others = undefined;
  }

  #isCurrent(kind: Kind): boolean {
    if (this.#damage || !this.#provenance.isCurrent(kind, this.#writtenAt)) return false;
    // Bytes written by this process have their parts, and are certain to have the right head.
    if (this.#parts !== undefined || this.#derived.headOf === kind) return true;
    if (!hasHead(this.#stored, kind)) return false;
    this.#derived.headOf = kind;
    return true;
  }

  #inHub(kind: Kind): View {
    if (this.#derived.hub?.kind !== kind) {
      // The other views of a replaced definition are of no use either.
      this.#derived.others = undefined;
      this.#derived.hub = this.#hubView(kind);
    }
    return this.#derived.hub;
  }

  #hubView(kind: Kind): View {
    const written = this.#derived.written;
    const stored = this.#stored;
    this.#derived.written = undefined;
    if (!this.#isCurrent(kind)) return new View(this, kind, kind.hub, { object: this.#decoded(kind) });
    if (written) return new View(this, kind, kind.hub, { object: this.#complete(written, kind, kind.hub), stored });
    const read = () => this.#complete(parseStored(stored) as KubeObject, kind, kind.hub);
    // An object contains the revision of its entry.
    const shared = this.#writtenAt === this.revision ? this.#provenance.shared : undefined;
    return new View(this, kind, kind.hub, { read, stored, shared });
  }

  #decoded(kind: Kind): KubeObject {
    const { version, object } = this.decode(kind);
    if (kind.conversion && version !== kind.hub) throw unprepared(kind);
    try {
      return this.#complete(toHub({ kind, version }, object) as KubeObject, kind, kind.hub);
    } catch (cause) {
      throw this.#unreadable(cause);
    }
  }

  #unreadable(cause: unknown): UnreadableObject {
    const error = new UnreadableObject(this.at, this.#writtenAt, cause);
    this.#derived.isUnreadable = true;
    this.#provenance.failed(error, this);
    return error;
  }

  #converted(kind: Kind, version: Version): KubeObject {
    if (kind.conversion) throw unprepared(kind);
    return this.#complete(fromHub({ kind, version }, this.hub(kind)) as KubeObject, kind, version);
  }

  #complete(object: KubeObject, kind: Kind, version: Version): KubeObject {
    object.metadata.selfLink = selfLinkOf(kind, version, this.at);
    object.metadata.resourceVersion = String(this.revision);
    return this.#provenance.frozen ? deepFreeze(object) : object;
  }
}

const INITIALIZERS = Buffer.from('"initializers":');

/** A programming error: see ../conversion/prepare.ts. */
function unprepared({ kind }: Kind): Error {
  return new Error(`objects of kind ${kind} are converted asynchronously and must be prepared before they are read`);
}
