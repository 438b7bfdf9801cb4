import type { ChangeType, ObjectChange } from '../../../api/past.ts';
import type { ArchivedChange } from '../../../store/archive/archive.ts';
import { parseKey } from '../../objects/cache/keys.ts';

/** The kind of a changed object, in the version in which it is shown. */
export type ChangedKind = Pick<ObjectChange, 'group' | 'version' | 'resource' | 'kind'>;

/** Returns a change as clients see it, without the states of the object. */
export function changeOf(change: ArchivedChange, { group, version, resource, kind }: ChangedKind): ObjectChange {
  const { key, revision, time, origin } = change;
  const { namespace = '', name = '' } = parseKey(key) ?? {};
  return {
    time: new Date(time).toISOString(),
    resourceVersion: String(revision),
    type: typeOf(change),
    user: origin?.user,
    client: origin?.client,
    fieldManager: origin?.manager,
    requestID: origin?.request,
    status: origin?.isStatus || undefined,
    group,
    version,
    resource,
    kind,
    namespace: namespace || undefined,
    name,
  };
}

export function typeOf({ value, replaced }: Pick<ArchivedChange, 'value' | 'replaced'>): ChangeType {
  if (!value) return 'deleted';
  return replaced === 0 ? 'created' : 'updated';
}
