import type { Kind, KubeObject, Version } from '../../kinds/kind.ts';
import type { Item } from '../api.ts';
import { encode, encodeLasting, headOf, selfLinkOf, splice } from './encoding.ts';
import type { ObjectKey } from './keys.ts';

/** What a view is made from: an object, or a function that reads it when it is first needed. */
export interface ViewContent {
  readonly object?: KubeObject;
  readonly read?: () => KubeObject;
  /** The bytes in the store, where they are what is served but for the splice. */
  readonly stored?: Buffer;
}

/** The entry that a view shows. */
interface ViewedEntry {
  readonly at: ObjectKey;
  readonly revision: number;
  hub(kind: Kind): KubeObject;
}

/** The part of a row in a table that does not change with time. */
interface ViewRow {
  readonly columns: object;
  /** What the row has of the object. */
  readonly form: string;
  /** The indices of the columns that change with time, and the bytes around their cells. */
  readonly changing: readonly number[];
  readonly parts: readonly Buffer[];
}

/** An entry as one version serves it. */
export class View implements Item {
  #object: KubeObject | undefined;
  readonly #read: (() => KubeObject) | undefined;
  readonly #stored: Buffer | undefined;
  #json: Buffer | undefined;
  #metadata: Buffer | undefined;
  /** Its row in a table. */
  row: ViewRow | undefined;

  constructor(
    readonly entry: ViewedEntry,
    readonly kind: Kind,
    readonly version: Version,
    content: ViewContent,
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

  /** The metadata as JSON: all that tables and metadata-only replies show of the object. */
  metadataJson(): Buffer {
    this.#metadata ??= encodeLasting(JSON.stringify(this.object.metadata));
    return this.#metadata;
  }

  /** The bytes of an item in a list, but for the opening brace. */
  itemJson(): Buffer {
    return this.json().subarray(headOf(this.kind, this.version).item);
  }

  #encode(): Buffer {
    const stored = this.#stored;
    if (!stored) return encode(this.object, this.kind.rawFields);
    const selfLink = selfLinkOf(this.kind, this.version, this.entry.at);
    return splice(stored, headOf(this.kind, this.version).bytes.length, { selfLink, revision: this.entry.revision });
  }
}
