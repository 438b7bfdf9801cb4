import { describe, expect, it } from 'vitest';
import type { ObjectChange } from '../../../api/past.ts';
import type { KubeObject } from '../../../kinds/kind.ts';
import { eventsOf } from './events.ts';

const state = (resourceVersion: string) => ({ metadata: { name: 'a', resourceVersion } }) as KubeObject;
const change = (
  type: ObjectChange['type'],
  resourceVersion: string,
  more: Partial<ObjectChange> = {},
): ObjectChange => ({
  ...{ type, resourceVersion, time: '', group: '', version: 'v1', resource: 'things', kind: 'Thing', name: 'a' },
  ...(type === 'deleted' ? {} : { object: state(resourceVersion) }),
  ...more,
});

describe('changes as events', () => {
  it('come oldest first, with deletions as the state before them', () => {
    const changes = [change('created', '9'), change('deleted', '7'), change('updated', '5'), change('created', '3')];
    const { first, events } = eventsOf(changes);
    expect(first).toBeUndefined();
    expect(events.map(({ type, object }) => `${type} ${object.metadata.resourceVersion}`)).toEqual([
      'ADDED 3',
      'MODIFIED 5',
      'DELETED 7',
      'ADDED 9',
    ]);
  });

  it('begin with the state that the oldest change replaced', () => {
    const { first, events } = eventsOf([change('deleted', '7', { before: state('2') })]);
    expect(first?.metadata.resourceVersion).toBe('2');
    expect(events).toEqual([{ type: 'DELETED', object: state('7') }]);
  });
});
