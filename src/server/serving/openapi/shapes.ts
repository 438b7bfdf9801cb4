/** Shapes around objects that belong to no kind: lists and watch events. */
import { s } from '../../../schema/builders.ts';
import type { ObjectSchema } from '../../../schema/schema.ts';

const kind = s.string('Kind of the object, in CamelCase, such as PodList.');
const apiVersion = s.string('API group and version the object is written in, such as apps/v1.');

export const ListMeta = s.object('ListMeta', 'Metadata of a list.', {
  selfLink: s.string('URL path of the list.'),
  resourceVersion: s.string(
    'Version of the store that the list reflects. A watch that starts from it misses no later change.',
  ),
  continue: s.string(
    'Token for the next page, set if the list was cut off by limit. Send it as the query parameter continue, with otherwise the same query; it expires after a while.',
  ),
  remainingItemCount: s.int64(
    'Number of further objects that the list leaves out because of limit. Absent if it is not known, as with a label or field selector.',
  ),
  shardInfo: s.object('ShardInfo', 'Set if the list holds only a shard of the objects.', {
    selector: s.string('Shard selector that was requested.', { zero: true }),
  }),
});

export function listShape(name: string, items: ObjectSchema): ObjectSchema {
  return s.object(
    name,
    `A list of ${items.name} objects.`,
    {
      apiVersion,
      items: s.list(items, 'The objects.', { zero: true }),
      kind,
      metadata: s.use(ListMeta, 'Metadata of the list: its version, and where it continues.'),
    },
    { ...(items.extensions ? { extensions: items.extensions } : {}) },
  );
}

export const WatchEvent = s.object('WatchEvent', 'One event of a watch.', {
  type: s.string('What happened: `ADDED`, `MODIFIED`, `DELETED`, `BOOKMARK` or `ERROR`.', { zero: true }),
  object: s.any(
    'The object after an ADDED or MODIFIED event, and its last state before a DELETED one, with the resourceVersion of the change. For a BOOKMARK only its resourceVersion is set; for an ERROR it is usually a Status.',
    { zero: true },
  ),
});
