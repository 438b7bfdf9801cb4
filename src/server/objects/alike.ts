/**
 * Objects that are made from one template differ in their names and little else. Of a new one whose spec is, value for
 * value, that of one created before, the spec is neither checked nor encoded again, and is kept once for all of them.
 */
import { deepEqual } from '../../base/tree.ts';
import type { Kind, KubeObject } from '../../kinds/kind.ts';
import type { Before } from '../cache/encoding.ts';
import type { Entry } from '../cache/entry.ts';

/** A spec that was found right, and its bytes. */
export interface Template extends Before {
  readonly spec: object;
}

/** So many templates are in use at a time; more are not remembered. */
const MOST = 16;

/** What is smaller is checked and encoded faster than it is found. */
const LEAST_BYTES = 512;

type WithSpec = KubeObject & { spec?: object };

export class Alike {
  readonly #known = new WeakMap<Kind, Template[]>();

  /** What the object was made from, as far as that is known; the object then has the very spec of the others. */
  of(kind: Kind, object: WithSpec): Template | undefined {
    const known = this.#known.get(kind);
    if (!known) return undefined;
    for (let i = 0; i < known.length; i++) {
      const template = known[i]!;
      if (!deepEqual(template.spec, object.spec)) continue;
      if (i > 0) known.unshift(...known.splice(i, 1));
      object.spec = template.spec;
      return template;
    }
    return undefined;
  }

  /** Remembers an object that was stored. */
  note(kind: Kind, entry: Entry): void {
    const before = kind.fromTemplates ? entry.before(kind) : undefined;
    const part = before?.encoded.parts.find(({ field }) => field === 'spec');
    if (!before || !part || part.end - part.start < LEAST_BYTES) return;
    let known = this.#known.get(kind);
    if (!known) {
      known = [];
      this.#known.set(kind, known);
    }
    // A copy: the bytes lie in something large that nobody else may need any more.
    const bytes = Buffer.from(before.encoded.bytes.subarray(part.start, part.end));
    const parts = [{ field: 'spec', start: 0, end: bytes.length }];
    const spec = (before.object as WithSpec).spec!;
    known.unshift({ spec, object: { spec }, encoded: { bytes, parts } });
    if (known.length > MOST) known.pop();
  }
}
