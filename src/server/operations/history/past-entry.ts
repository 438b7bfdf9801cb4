import type { Row } from '../../../store/store.ts';
import type { Cache } from '../../objects/cache/cache.ts';
import type { Entry } from '../../objects/cache/entry/entry.ts';
import { parseKey } from '../../objects/cache/keys.ts';

/** Returns the entry of an archived row: that of the cache if the object has not changed since, which may be decoded already. */
export function pastEntry(cache: Cache, { key, revision, value }: Row): Entry {
  const live = cache.entry(key);
  if (live?.revision === revision) return live;
  if (live) return cache.entryOf(live.at, revision, value);
  const { namespace = '', name = '' } = parseKey(key) ?? {};
  return cache.entryOf({ key, namespace, name }, revision, value);
}
