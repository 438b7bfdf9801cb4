import { clone } from '../../base/json/tree.ts';
import type { DirectHandle } from '../../server/serving/direct.ts';
import type { KubeObject, Manifest } from '../contract.ts';
import type { Kinds } from './kinds.ts';

const FIELD_MANAGER = 'quarterdeck-testing';

/** Applies manifests in their order, as `kubectl apply --server-side --force-conflicts` does. */
export async function apply(
  { kinds, direct }: { readonly kinds: Kinds; readonly direct: DirectHandle },
  manifests: readonly (string | Manifest)[],
): Promise<KubeObject[]> {
  const applied: KubeObject[] = [];
  for (const manifest of await objectsOf(manifests)) {
    const { apiVersion, kind: kindName, metadata = {} } = manifest;
    if (!apiVersion || !kindName) throw new Error(`a manifest needs apiVersion and kind: ${JSON.stringify(manifest)}`);
    const { kind, version, namespace, name } = kinds.locate(manifest);
    if (!name) throw new Error(`a manifest of kind ${kindName} needs metadata.name`);
    const body = { ...manifest, metadata: { ...metadata, ...(namespace ? { namespace } : {}) } };
    const reply = await direct({
      verb: 'patch',
      apiVersion: version.apiVersion,
      plural: kind.plural,
      name,
      patchType: 'apply',
      namespace,
      body: structuredClone(body),
      options: { fieldManager: FIELD_MANAGER, force: true },
    });
    if (reply.type !== 'object') throw new Error(`unexpected answer of the server: ${reply.type}`);
    applied.push(clone(reply.item.object) as KubeObject);
  }
  return applied;
}

async function objectsOf(manifests: readonly (string | Manifest)[]): Promise<Manifest[]> {
  const parsed: Manifest[] = [];
  for (const manifest of manifests)
    parsed.push(...(typeof manifest === 'string' ? await documentsOf(manifest) : [manifest]));
  return parsed.flatMap((manifest) => (manifest.kind === 'List' ? manifest.items : [manifest]));
}

async function documentsOf(text: string): Promise<Manifest[]> {
  // Loading the parser takes several milliseconds of a start.
  const { parseAllDocuments } = await import('yaml');
  return parseAllDocuments(text).flatMap((document) => {
    const [error] = document.errors;
    if (error) throw error;
    const object = document.toJS() as Manifest | null;
    return object === null ? [] : [object];
  });
}
