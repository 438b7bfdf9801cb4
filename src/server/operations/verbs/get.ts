import { notFound } from '../../../api/errors.ts';
import type { ObjectReply } from '../../../api/reply.ts';
import { plainItem } from '../../objects/body/body.ts';
import { exportedObject } from '../../objects/body/export.ts';
import { prepare } from '../../objects/cache/entry/prepare.ts';
import type { Reader, Tools } from '../../objects/ports.ts';
import { parseRevision, waitForRevision } from '../../objects/reads/freshness.ts';
import type { ApiRequest } from '../../objects/registry/registry.ts';
import type { Writer } from '../../objects/transaction/ports.ts';

type Ports = Pick<Reader, 'cache'> & Pick<Tools, 'clock'> & Pick<Writer, 'admission'>;

/** Returns one object; with `export`, without the fields that clients cannot set. */
export async function get(core: Ports, { resource, call }: ApiRequest): Promise<ObjectReply> {
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
