import type { KubeObject } from '../../kinds/kind.ts';

/** What an object has in common with all others, and nothing else. `version` is that of meta.k8s.io. */
export function metadataJson({ metadata }: KubeObject, version: string): string {
  return `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/${version}","metadata":${JSON.stringify(metadata)}}`;
}

/** The same of many. `metadata` is that of their list. */
export function metadataListJson(metadata: object, objects: readonly KubeObject[], version: string): string {
  const head = `{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/${version}","metadata":${JSON.stringify(metadata)}`;
  return `${head},"items":[${objects.map((object) => metadataJson(object, version)).join(',')}]}`;
}
