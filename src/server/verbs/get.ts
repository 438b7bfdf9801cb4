import { notFound } from '../../base/errors.ts';
import { clone } from '../../base/tree.ts';
import type { KubeObject } from '../../kinds/kind.ts';
import type { ObjectMeta } from '../../kinds/shapes/meta/object-meta.ts';
import type { ObjectReply } from '../api.ts';
import type { ApiRequest } from '../api-request.ts';
import { prepare } from '../conversion/prepare.ts';
import type { Core } from '../core.ts';
import { setInitialStatus } from '../objects/initial-status.ts';
import { plainItem } from '../objects/unstored.ts';
import { parseRevision, waitForRevision } from '../reads/freshness.ts';
import type { Resource } from '../registry.ts';

/** Returns one object; with `export`, without the fields that clients cannot set. */
export async function get(core: Core, { resource, call }: ApiRequest): Promise<ObjectReply> {
  const { kind } = resource;
  const { namespace = '', name = '', options } = call;
  const asked = parseRevision(options?.resourceVersion);
  const wait = asked === undefined ? core.cache.fresh() : asked > 0 ? waitForRevision(core, asked, call) : undefined;
  if (wait) await wait;
  const entry = core.cache.table(kind).get(namespace, name);
  if (!entry) throw notFound(kind, name);
  const preparing = prepare([entry], resource);
  if (preparing) await preparing;
  const item = entry.view(resource);
  return { type: 'object', item: options?.export ? plainItem(exported(resource, item.object, options.exact)) : item };
}

/** The object as a client would send it to create it again. */
function exported({ kind }: Resource, object: KubeObject, exact: boolean | undefined): KubeObject {
  const copy: KubeObject & { status?: unknown } = clone(object);
  const {
    uid: _,
    resourceVersion: __,
    deletionTimestamp: ___,
    deletionGracePeriodSeconds: ____,
    ...metadata
  } = copy.metadata;
  if (kind.generation) metadata.generation = 1;
  if (!exact) {
    delete metadata.namespace;
    if (metadata.generateName) delete (metadata as Partial<ObjectMeta>).name;
  }
  copy.metadata = { ...metadata, creationTimestamp: null as never };
  setInitialStatus(kind, copy);
  if (!exact) kind.onExport?.(copy);
  return copy;
}
