import type { Item } from '../../../../api/reply.ts';
import { responseSlabs } from '../../../../base/bytes/slabs.ts';
import { endOfStructure } from '../../../../base/json/json-scan.ts';
import type { Kind, KubeObject, Version } from '../../../../kinds/kind.ts';
import { findManagers, servedManagers, unpackManagers } from '../../managed-fields/stored/stored-managers.ts';
import type { ObjectKey } from '../keys.ts';
import {
  encode,
  encodeLasting,
  headOf,
  type SplicedBytes,
  selfLinkOf,
  splice,
  unspliced,
  writeSpliced,
} from './encoding.ts';
import type { KeptBytes, RecentBytes } from './recent-bytes.ts';
import type { SharedObjects } from './shared-objects.ts';

/** The source of a view: an object, or a function that reads it on demand. */
export interface ViewContent {
  readonly object?: KubeObject;
  readonly read?: () => KubeObject;
  /** The bytes in the store, if they are served with only a splice. */
  readonly stored?: Buffer;
  /** Objects that other caches have read from the same bytes. */
  readonly shared?: SharedObjects | undefined;
}

interface ViewedEntry {
  readonly at: ObjectKey;
  readonly revision: number;
  readonly size: number;
  readonly recent: RecentBytes;
  hub(kind: Kind): KubeObject;
}

/** The part of a table row that does not change with time. */
interface ViewRow {
  readonly columns: object;
  /** The parts of the object that the row includes. */
  readonly form: string;
  /** The indices of the columns that change with time, and the bytes around their cells. */
  readonly changing: readonly number[];
  readonly parts: readonly Buffer[];
}

const OPENING_BRACE = Buffer.from('{');
const COMMA = Buffer.from(',');

/** An encoding of objects beside JSON. */
export interface ObjectEncoding {
  encode(object: KubeObject): Buffer;
}

/** An entry as one version serves it. */
export class View implements Item {
  #object: KubeObject | undefined;
  readonly #read: (() => KubeObject) | undefined;
  readonly #stored: Buffer | undefined;
  readonly #shared: SharedObjects | undefined;
  #json: KeptBytes | undefined;
  #metadata: Buffer | undefined;
  #encoded: { readonly encoding: ObjectEncoding; kept: KeptBytes }[] | undefined;
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
    this.#shared = content.shared;
  }

  get object(): KubeObject {
    this.#object ??= this.#shared ? this.#shared.object(this.#stored!, this.#read!) : this.#read?.();
    return this.#object as KubeObject;
  }

  get size(): number {
    return this.entry.size;
  }

  /** True when it is served as stored, without encoding. */
  get isStored(): boolean {
    return this.#stored !== undefined;
  }

  /** True when the object is available without parsing. */
  get isRead(): boolean {
    return this.#object !== undefined;
  }

  json(): Buffer {
    const known = this.#json?.bytes;
    if (known) return known;
    const json = this.#encode();
    this.#json = this.entry.recent.keep(json);
    return json;
  }

  /** Returns the JSON for a caller that copies it into other bytes. It is not cached. */
  jsonSource(): SplicedBytes {
    const known = this.#json?.bytes;
    if (known) return unspliced(known);
    return this.#spliced() ?? unspliced(encode(this.object, this.kind.rawFields));
  }

  /** The metadata, parsed from the bytes if the object itself has not been requested. */
  get metadata(): KubeObject['metadata'] {
    if (this.#object || !this.#stored) return this.object.metadata;
    return this.#shared
      ? this.#shared.metadata(this.#stored, () => this.#readMetadata(this.#stored!))
      : this.#readMetadata(this.#stored);
  }

  #readMetadata(stored: Buffer): KubeObject['metadata'] {
    const start = headOf(this.kind, this.version).bytes.length - 1;
    const json = stored.toString('utf8', start, endOfStructure(stored, start));
    const metadata = JSON.parse(json) as KubeObject['metadata'];
    unpackManagers({ metadata });
    metadata.selfLink = selfLinkOf(this.kind, this.version, this.entry.at);
    metadata.resourceVersion = String(this.entry.revision);
    return metadata;
  }

  /** Returns the metadata as JSON, for metadata-only replies. Only the parts that differ between objects are kept. */
  metadataJson(): Buffer {
    this.#metadata ??= encodeLasting(JSON.stringify({ ...this.metadata, managedFields: undefined }));
    const managers = this.#managersJson();
    return managers ? Buffer.concat([OPENING_BRACE, managers, COMMA, this.#metadata.subarray(1)]) : this.#metadata;
  }

  #managersJson(): Buffer | undefined {
    const found = this.#stored && findManagers(this.#stored, headOf(this.kind, this.version).bytes.length);
    if (found) return Buffer.concat(servedManagers(found).map((part) => Buffer.from(part)));
    const { managedFields } = this.metadata;
    return managedFields && Buffer.from(`"managedFields":${JSON.stringify(managedFields)}`);
  }

  /** Returns the object in another encoding. If the object has to be read for this, only the encoded bytes are kept. */
  encoded(encoding: ObjectEncoding): Buffer {
    const known = this.#encoded?.find((each) => each.encoding === encoding);
    if (known?.kept.bytes) return known.kept.bytes;
    const bytes = encoding.encode(this.#object ?? (this.#read?.() as KubeObject));
    const kept = this.entry.recent.keep(bytes);
    if (known) known.kept = kept;
    else {
      this.#encoded ??= [];
      this.#encoded.push({ encoding, kept });
    }
    return bytes;
  }

  #encode(): Buffer {
    const source = this.#spliced();
    if (!source) return encode(this.object, this.kind.rawFields);
    const out = responseSlabs.allocate(source.length);
    writeSpliced(source, out, 0);
    return out;
  }

  #spliced(): SplicedBytes | undefined {
    if (!this.#stored) return undefined;
    const selfLink = selfLinkOf(this.kind, this.version, this.entry.at);
    const at = headOf(this.kind, this.version).bytes.length;
    return splice(this.#stored, at, { selfLink, revision: this.entry.revision });
  }
}
