import { JsonWriter } from './json-writer.ts';
import type { Source } from './source.ts';

/** About what a name, labels and the like of an object take, in bytes. */
const METADATA_BYTES = 1024;

/** What an object has in common with all others, and nothing else. `version` is that of meta.k8s.io. */
export function partialJson(source: Source, version: string): Buffer {
  return writePartial(new JsonWriter(METADATA_BYTES), source, version).done();
}

export function writePartial(out: JsonWriter, source: Source, version: string): JsonWriter {
  const head = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/${version}","metadata":`;
  return out.text(head).bytes(source.metadataJson()).text('}');
}

/** The same of many. `metadata` is that of their list. */
export function partialListJson(metadata: object, sources: readonly Source[], version: string): Buffer {
  const out = new JsonWriter((sources.length + 1) * METADATA_BYTES);
  const head = `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/${version}","metadata":${JSON.stringify(metadata)}`;
  out.text(`${head},"items":[`);
  sources.forEach((source, index) => {
    if (index > 0) out.text(',');
    writePartial(out, source, version);
  });
  return out.text(']}').done();
}
