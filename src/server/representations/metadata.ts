import type { Source } from './source.ts';

/** What an object has in common with all others, and nothing else. `version` is that of meta.k8s.io. */
export function partialJson(source: Source, version: string): string {
  return `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/${version}","metadata":${source.metadataJson()}}`;
}

/** The same of many. `metadata` is that of their list. */
export function partialListJson(metadata: object, sources: readonly Source[], version: string): string {
  const head = `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/${version}","metadata":${JSON.stringify(metadata)}`;
  return `${head},"items":[${sources.map((source) => partialJson(source, version)).join(',')}]}`;
}
