/** Shapes around objects that belong to no kind: lists and watch events. */
import { s } from '../../../schema/builders.ts';
import type { ObjectSchema } from '../../../schema/schema.ts';

const kind = s.string({ description: 'Kind of the object, in CamelCase, such as PodList.' });
const apiVersion = s.string({ description: 'API group and version the object is written in, such as apps/v1.' });

export const ListMeta = s.object(
  'ListMeta',
  {
    selfLink: s.string({ description: 'URL path of the list.' }),
    resourceVersion: s.string({
      description: 'Version of the store that the list reflects. A watch that starts from it misses no later change.',
    }),
    continue: s.string({
      description:
        'Token for the next page, set if the list was cut off by limit. Send it as the query parameter continue, with otherwise the same query; it expires after a while.',
    }),
    remainingItemCount: s.int64({
      description:
        'Number of further objects that the list leaves out because of limit. Absent if it is not known, as with a label or field selector.',
    }),
    shardInfo: s.object(
      'ShardInfo',
      { selector: s.string({ zero: true, description: 'Shard selector that was requested.' }) },
      { description: 'Set if the list holds only a shard of the objects.' },
    ),
  },
  { description: 'Metadata of a list.' },
);

export function listShape(name: string, items: ObjectSchema): ObjectSchema {
  return s.object(
    name,
    {
      apiVersion,
      items: s.list(items, { zero: true, description: 'The objects.' }),
      kind,
      metadata: s.use(ListMeta, { description: 'Metadata of the list: its version, and where it continues.' }),
    },
    {
      description: `A list of ${items.name} objects.`,
      ...(items.extensions ? { extensions: items.extensions } : {}),
    },
  );
}

export const WatchEvent = s.object(
  'WatchEvent',
  {
    type: s.string({
      zero: true,
      description: 'What happened: `ADDED`, `MODIFIED`, `DELETED`, `BOOKMARK` or `ERROR`.',
    }),
    object: s.any({
      zero: true,
      description:
        'The object after an ADDED or MODIFIED event, and its last state before a DELETED one, with the resourceVersion of the change. For a BOOKMARK only its resourceVersion is set; for an ERROR it is usually a Status.',
    }),
  },
  { description: 'One event of a watch.' },
);
