import { parseStored } from '../../server/objects/cache/entry/stored-object.ts';
import { keyOf } from '../../server/objects/cache/keys.ts';
import type { MemoryStore } from '../../store/memory/memory-store.ts';
import type { HistoryEntry, KubeObject } from '../contract.ts';
import type { Located } from './kinds.ts';

/** Returns the history of an object, as far as the store's reaches. Objects are in the stored version. */
export function historyOf(store: MemoryStore, { kind, namespace = '', name }: Located): HistoryEntry[] {
  return store.historyOf(keyOf(kind, namespace, name)).map(({ change, time }) => {
    const { value, previous, revision } = change;
    const type = !value ? 'deleted' : previous ? 'updated' : 'created';
    const object = parseStored((value ?? previous?.value)!) as KubeObject;
    object.metadata.resourceVersion = String(revision);
    return { type, resourceVersion: String(revision), time: new Date(time), object };
  });
}
