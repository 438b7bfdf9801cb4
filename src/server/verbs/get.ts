import { notFound } from '../../base/errors.ts';
import type { ObjectReply } from '../api.ts';
import type { ApiRequest } from '../api-request.ts';
import { prepare } from '../conversion/prepare.ts';
import type { Core } from '../core.ts';
import { exportedObject } from '../objects/export.ts';
import { plainItem } from '../objects/unstored.ts';
import { parseRevision, waitForRevision } from '../reads/freshness.ts';

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
  if (!options?.export) return { type: 'object', item: entry.view(resource) };
  const exported = await exportedObject(core, resource, { stored: entry.hub(kind), exact: options.exact === true });
  return { type: 'object', item: plainItem(exported) };
}
