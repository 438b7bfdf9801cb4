/** Shapes that are no part of any kind and stand around objects: lists, and the events of a watch. */
import { s } from '../../schema/builders.ts';
import type { ObjectSchema } from '../../schema/schema.ts';

const kind = s.string({ description: 'What the object is.' });
const apiVersion = s.string({ description: 'The group and version in which it is written.' });

export const ListMeta = s.object(
  'ListMeta',
  {
    selfLink: s.string({ description: 'The path of the list.' }),
    resourceVersion: s.string({ description: 'The moment that the list shows; a watch can start from it.' }),
    continue: s.string({ description: 'Asks for the rest, where a limit cut the list off.' }),
    remainingItemCount: s.int64({ description: 'How many more there are, where that is known.' }),
    shardInfo: s.object(
      'ShardInfo',
      { selector: s.string({ zero: true, description: 'Which part was asked for.' }) },
      { description: 'Says that the list is a part of the whole.' },
    ),
  },
  { description: 'What every list carries besides its items.' },
);

export function listShape(name: string, items: ObjectSchema): ObjectSchema {
  return s.object(
    name,
    {
      apiVersion,
      items: s.list(items, { zero: true, description: 'The objects.' }),
      kind,
      metadata: s.use(ListMeta, { description: 'About the list as a whole.' }),
    },
    { description: `A list of ${items.name} objects.` },
  );
}

export const WatchEvent = s.object(
  'WatchEvent',
  {
    type: s.string({ zero: true, description: 'ADDED, MODIFIED, DELETED, BOOKMARK or ERROR.' }),
    object: s.any({ zero: true, description: 'The object after the change; of an ERROR, a Status.' }),
  },
  { description: 'One change, as a watch tells it.' },
);
