import type { Kind, KubeObject } from '../../kinds/kind.ts';
import type { Condition, Write } from '../../store/store.ts';
import type { AdmissionRequest } from '../admission/plugin.ts';
import { type Before, encodeChange } from '../cache/encoding.ts';
import type { Entry, Place } from '../cache/entry.ts';
import type { Core } from '../core.ts';

/** An object on its way into the store. */
export interface Draft {
  readonly at: Place;
  readonly kind: Kind;
  /** Without resourceVersion and selfLink. */
  readonly object: KubeObject;
  /** The revision the key must have; 0: it must be new. */
  readonly expect: number;
  /** What it was until now; absent: it is new. */
  readonly before?: Entry;
  /** Another object that it shares parts with. */
  readonly shared?: Before | undefined;
  /** What must be written with it or not at all. */
  readonly also?: readonly Write[];
  /** What must be as it was. */
  readonly conditions?: readonly Condition[] | undefined;
}

/** What is allocated to the object, and what admission wants written with it. */
export function withAdmission(
  also: readonly Write[],
  admission: Pick<AdmissionRequest, 'also'> | undefined,
): readonly Write[] {
  return admission?.also.length ? [...also, ...admission.also] : also;
}

/** Writes the object. Resolves when it is durable and every reader sees it; rejects with the store's errors. */
export async function commitObject(core: Core, draft: Draft): Promise<Entry> {
  const { at, kind, object, expect, before, shared, also = [], conditions } = draft;
  const encoded = encodeChange(object, before ? before.before(kind) : shared);
  const written = { at, kind, object, encoded };
  const mark = core.cache.announce(written);
  try {
    const own = { key: at.key, value: encoded.bytes, expect, replaces: before?.stored };
    const writes = mark ? [own, mark, ...also] : [own, ...also];
    const revision = await track(core, at.key, core.store.commit(writes, conditions));
    await core.cache.reached(revision);
    const cached = core.cache.entry(at.key);
    return cached?.revision === revision ? cached : core.cache.entryOf(at, revision, encoded.bytes);
  } finally {
    core.cache.forget(written);
  }
}

/** Takes the object away. */
export async function commitRemoval(core: Core, entry: Entry, also: readonly Write[] = []): Promise<void> {
  const { key } = entry.at;
  const revision = await track(core, key, core.store.commit([{ key, value: null, expect: entry.revision }, ...also]));
  await core.cache.reached(revision);
}

function track<T>(core: Core, key: string, commit: Promise<T>): Promise<T> {
  core.writing.set(key, commit);
  const done = () => {
    if (core.writing.get(key) === commit) core.writing.delete(key);
  };
  commit.then(done, done);
  return commit;
}
