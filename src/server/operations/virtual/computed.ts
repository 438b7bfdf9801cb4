import { notFound } from '../../../api/errors.ts';
import type { ListReply, ObjectReply } from '../../../api/reply.ts';
import { ComponentStatus } from '../../../kinds/groups/core/component-status.ts';
import type { Kind, KubeObject, ObjectOf } from '../../../kinds/kind.ts';
import { plainItem } from '../../objects/body/body.ts';
import { selfLinkOf } from '../../objects/cache/entry/encoding.ts';
import { checkOf, readInTurns } from '../../objects/reads/selection.ts';
import type { ApiRequest } from '../../objects/registry/registry.ts';
import type { OperationPorts } from '../ports.ts';
import type { VirtualResource } from './virtual-resource.ts';

export interface ObjectQuery {
  /** The namespace; empty for all namespaces. */
  readonly namespace: string;
  /** Reports whether an object matches by its name, labels and metadata fields. */
  readonly matches: (object: KubeObject) => boolean;
}

/** Computes the objects for a get or a list. Objects that do not match may be left out. */
type Compute<T> = (core: OperationPorts, query: ObjectQuery) => Promise<readonly T[]>;

/** A read-only kind whose objects are computed for each request. */
export function computed<K extends Kind>(kind: K, compute: Compute<ObjectOf<K>>): VirtualResource {
  async function find(core: OperationPorts, { resource, call }: ApiRequest): Promise<readonly KubeObject[]> {
    const matches = checkOf(resource, call);
    const objects = (await compute(core, { namespace: call.namespace ?? '', matches })) as readonly KubeObject[];
    return objects.filter(matches);
  }

  async function get(core: OperationPorts, request: ApiRequest): Promise<ObjectReply> {
    const [object] = await find(core, request);
    if (!object) throw notFound(kind, request.call.name ?? '');
    return { type: 'object', item: plainItem(object) };
  }

  const list = async (core: OperationPorts, request: ApiRequest) => listReply(core, request, await find(core, request));
  return { kind, operations: { get, list } };
}

function listReply(
  { turns }: OperationPorts,
  { resource: { kind, version }, call }: ApiRequest,
  objects: readonly KubeObject[],
): ListReply {
  const { namespace = '' } = call;
  const metadata = { selfLink: selfLinkOf(kind, version, { namespace }), resourceVersion: '' };
  const shape = { kind: kind.listKind, apiVersion: version.apiVersion, metadata };
  const json = () => Buffer.from(JSON.stringify({ ...shape, items: objects }));
  return {
    type: 'list',
    ...shape,
    items: objects.map(plainItem),
    json,
    gzip: undefined,
    protobuf: undefined,
    decode: () => undefined,
    encode: () => undefined,
    readInTurns: (items, read) => readInTurns(turns, items, read),
  };
}

/** Reports the store's health under the name that clients expect, whatever the store is. */
export const componentStatus = computed(ComponentStatus, async ({ store }) => {
  const condition = await Promise.resolve(store.revision()).then(
    () => ({ type: 'Healthy', status: 'True', message: 'ok' }),
    (error: Error) => ({ type: 'Healthy', status: 'False', error: error.message }),
  );
  return [{ kind: 'ComponentStatus', apiVersion: 'v1', metadata: { name: 'etcd-0' }, conditions: [condition] }];
});
