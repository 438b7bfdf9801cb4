import { clone, deepFreeze } from '../../base/tree.ts';
import type { Kind, KubeObject, Version } from '../../kinds/kind.ts';
import { DecodeError, decode } from '../../schema/decode.ts';
import type { Item } from '../api.ts';
import type { Resource } from '../registry.ts';
import { type Before, type Encoded, encode, headOf, kept, selfLinkOf, splice } from './encoding.ts';

/** Where an object stands. */
export interface Place {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
}

export interface Content {
  readonly stored: Buffer;
  /** Where the parts of the bytes are, as far as this process wrote them. */
  readonly parts?: Encoded['parts'] | undefined;
  /** The object as this process wrote it. */
  readonly written?: KubeObject | undefined;
  /** Whether this release made the bytes: then they are served as they are. */
  readonly current: boolean;
  /** Whether objects are frozen, so that who changes one is found out. */
  readonly frozen: boolean;
}

/** One object at one revision. It never changes; every form it is served in is made at most once, when first asked for. */
export class Entry {
  readonly #stored: Buffer;
  readonly #parts: Encoded['parts'] | undefined;
  readonly #current: boolean;
  readonly #frozen: boolean;
  /** The object as this process wrote it: then nothing has to be parsed. */
  #written: KubeObject | undefined;
  #hub: View | undefined;
  #others: View[] | undefined;

  constructor(
    readonly at: Place,
    readonly revision: number,
    content: Content,
  ) {
    this.#stored = content.stored;
    this.#parts = content.parts;
    this.#current = content.current;
    this.#frozen = content.frozen;
    this.#written = content.written;
  }

  get size(): number {
    return this.#stored.length;
  }

  get stored(): Buffer {
    return this.#stored;
  }

  /** What a change of it can take over; nothing, where the object is not to the letter what is stored. */
  before(kind: Kind): Before | undefined {
    if (!this.#current || !this.#parts) return undefined;
    return { object: this.hub(kind), encoded: { bytes: this.#stored, parts: this.#parts } };
  }

  /** The object as a version of its kind shows it. */
  view({ kind, version }: Resource): View {
    if (version === kind.hub) return this.#inHub(kind);
    for (const view of this.#others ?? []) if (view.version === version) return view;
    const view = new View(this, kind, version, { object: this.#converted(kind, version) });
    this.#others ??= [];
    this.#others.push(view);
    return view;
  }

  /** The same for who created it: perhaps nobody else ever asks, so that only the bytes are kept. */
  viewOnce(resource: Resource): View {
    const view = this.view(resource);
    this.retire();
    return view;
  }

  /** The object in the stored version. */
  hub(kind: Kind): KubeObject {
    return this.#inHub(kind).object;
  }

  /** The same content at a later revision: what a watcher is told when the object goes. */
  movedTo(revision: number): Entry {
    return new Entry(this.at, revision, { stored: this.#stored, current: this.#current, frozen: this.#frozen });
  }

  /** Another has taken its place: only its bytes are kept, for those who look back. */
  retire(): void {
    this.#written = undefined;
    this.#hub = undefined;
    this.#others = undefined;
  }

  #inHub(kind: Kind): View {
    if (this.#hub?.version !== kind.hub) this.#hub = this.#hubView(kind);
    return this.#hub;
  }

  #hubView(kind: Kind): View {
    const written = this.#written;
    const stored = this.#stored;
    this.#written = undefined;
    const complete = (object: KubeObject) => this.#complete(object, kind, kind.hub);
    if (written) return new View(this, kind, kind.hub, { object: complete(written), stored });
    if (this.#current) {
      const read = () => complete(JSON.parse(stored.toString()));
      return new View(this, kind, kind.hub, { read, stored });
    }
    // Somebody else wrote these bytes, perhaps an older release: what is a default today is filled in.
    return new View(this, kind, kind.hub, { object: complete(readStored(stored, kind)) });
  }

  #converted(kind: Kind, version: Version): KubeObject {
    const copy = clone(this.hub(kind));
    copy.apiVersion = version.apiVersion;
    const object: KubeObject = version.fromHub ? version.fromHub(copy) : copy;
    return this.#complete(object, kind, version);
  }

  #complete(object: KubeObject, kind: Kind, version: Version): KubeObject {
    object.metadata.selfLink = selfLinkOf(kind, version, this.at);
    object.metadata.resourceVersion = String(this.revision);
    return this.#frozen ? deepFreeze(object) : object;
  }
}

function readStored(stored: Buffer, kind: Kind): KubeObject {
  const tree = JSON.parse(stored.toString());
  try {
    return decode(kind.hub.schema, tree);
  } catch (error) {
    // An object that today's description refuses is still the client's: it is shown as it is stored.
    if (error instanceof DecodeError) return tree;
    throw error;
  }
}

/** An entry as one version serves it. */
export class View implements Item {
  #object: KubeObject | undefined;
  readonly #read: (() => KubeObject) | undefined;
  /** The bytes in the store, where they are what is served but for the splice. */
  readonly #stored: Buffer | undefined;
  #json: Buffer | undefined;
  #metadata: Buffer | undefined;
  /** What tables keep of it: the texts of its row, for some columns. */
  row: { readonly columns: object; readonly texts: readonly string[] } | undefined;

  constructor(
    readonly entry: Entry,
    readonly kind: Kind,
    readonly version: Version,
    content: { object?: KubeObject; read?: () => KubeObject; stored?: Buffer },
  ) {
    this.#object = content.object;
    this.#read = content.read;
    this.#stored = content.stored;
  }

  get object(): KubeObject {
    this.#object ??= this.#read?.();
    return this.#object as KubeObject;
  }

  json(): Buffer {
    this.#json ??= this.#encode();
    return this.#json;
  }

  /** The metadata as JSON: what tables and those who want nothing else show of the object. */
  metadataJson(): Buffer {
    this.#metadata ??= kept(JSON.stringify(this.object.metadata));
    return this.#metadata;
  }

  /** The bytes of an item in a list, but for the opening brace. */
  itemJson(): Buffer {
    return this.json().subarray(headOf(this.kind, this.version).item);
  }

  #encode(): Buffer {
    const stored = this.#stored;
    if (!stored) return encode(this.object);
    const selfLink = selfLinkOf(this.kind, this.version, this.entry.at);
    return splice(stored, headOf(this.kind, this.version).full, { selfLink, revision: this.entry.revision });
  }
}
