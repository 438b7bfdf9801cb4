import { JsonWriter } from './json-writer.ts';
import type { Source } from './source.ts';

const METADATA_BYTES = 1024;

/** Encodes only the metadata of an object, as a PartialObjectMetadata. `version` is that of meta.k8s.io. */
export function partialJson(source: Source, version: string): Buffer {
  return writePartial(new JsonWriter(METADATA_BYTES), source, version).done();
}

function writePartial(out: JsonWriter, source: Source, version: string): JsonWriter {
  return out.text(headOf(version)).bytes(source.metadataJson()).text('}');
}

/** Encodes the metadata for the row of a table. Rows are cached, and omit the managers, which tables do not show. */
export function rowText({ shown }: Source, version: string): string {
  return `${headOf(version)}${JSON.stringify({ ...shown.metadata, managedFields: undefined })}}`;
}

function headOf(version: string): string {
  return `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/${version}","metadata":`;
}

/** Writes the metadata of a list, item by item. `metadata` is that of the list. */
export class PartialListWriter {
  readonly rows: readonly Source[];
  readonly #out: JsonWriter;
  #isFirst = true;

  constructor(
    metadata: object,
    sources: readonly Source[],
    private readonly version: string,
  ) {
    const head = `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/${version}","metadata":${JSON.stringify(metadata)}`;
    this.rows = sources;
    this.#out = new JsonWriter((sources.length + 1) * METADATA_BYTES).text(`${head},"items":[`);
  }

  add(source: Source): void {
    if (!this.#isFirst) this.#out.text(',');
    this.#isFirst = false;
    writePartial(this.#out, source, this.version);
  }

  done(): Buffer {
    return this.#out.text(']}').done();
  }
}
