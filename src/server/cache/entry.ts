import { clone, deepFreeze } from '../../base/tree.ts';
import type { Kind, KubeObject, Version } from '../../kinds/kind.ts';
import { DecodeError, decode } from '../../schema/decode.ts';
import type { Item } from '../api.ts';
import type { Resource } from '../registry.ts';
import { encode, headOf, selfLinkOf, splice } from './encoding.ts';

/** Where an object stands. */
export interface Place {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
}

export interface Content {
  readonly stored: Buffer;
  readonly written?: KubeObject | undefined;
  /** Whether objects are frozen, so that who changes one is found out. */
  readonly frozen: boolean;
}

/** One object at one revision. It never changes; every form it is served in is made at most once, when first asked for. */
export class Entry {
  readonly #stored: Buffer;
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
    this.#frozen = content.frozen;
    this.#written = content.written;
  }

  get size(): number {
    return this.#stored.length;
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

  /** The object in the stored version. */
  hub(kind: Kind): KubeObject {
    return this.#inHub(kind).object;
  }

  /** The same content at a later revision: what a watcher is told when the object goes. */
  movedTo(revision: number): Entry {
    return new Entry(this.at, revision, { stored: this.#stored, frozen: this.#frozen });
  }

  #inHub(kind: Kind): View {
    if (this.#hub?.version !== kind.hub) this.#hub = this.#hubView(kind);
    return this.#hub;
  }

  #hubView(kind: Kind): View {
    const written = this.#written;
    this.#written = undefined;
    if (written) {
      return new View(this, kind, kind.hub, { object: this.#complete(written, kind, kind.hub), stored: this.#stored });
    }
    // Somebody else wrote these bytes, perhaps an older release: what is a default today is filled in.
    const object = readStored(this.#stored, kind);
    return new View(this, kind, kind.hub, { object: this.#complete(object, kind, kind.hub) });
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
  readonly object: KubeObject;
  /** The bytes in the store, where they are what is served but for the splice. */
  #stored: Buffer | undefined;
  #json: Buffer | undefined;
  #metadata: string | undefined;

  constructor(
    readonly entry: Entry,
    readonly kind: Kind,
    readonly version: Version,
    content: { object: KubeObject; stored?: Buffer },
  ) {
    this.object = content.object;
    this.#stored = content.stored;
  }

  json(): Buffer {
    this.#json ??= this.#encode();
    return this.#json;
  }

  /** The metadata as JSON: what tables and those who want nothing else show of the object. */
  metadataJson(): string {
    this.#metadata ??= JSON.stringify(this.object.metadata);
    return this.#metadata;
  }

  /** The bytes of an item in a list, but for the opening brace. */
  itemJson(): Buffer {
    return this.json().subarray(headOf(this.kind, this.version).item);
  }

  #encode(): Buffer {
    const stored = this.#stored;
    if (!stored) return encode(this.object);
    const { selfLink = '' } = this.object.metadata;
    return splice(stored, headOf(this.kind, this.version).full, { selfLink, revision: this.entry.revision });
  }
}
