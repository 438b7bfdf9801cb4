import { deepEqual } from '../../../base/json/tree.ts';
import type { Kind, KubeObject } from '../../../kinds/kind.ts';
import type { Before } from '../cache/encoding.ts';
import type { Entry } from '../cache/entry.ts';

/** A spec that passed validation in one object and is shared by later objects with an equal one, with its encoded bytes. */
export interface SharedSpec extends Before {
  readonly spec: object;
  /** The same spec when the first object that had it gave no warnings; otherwise undefined. */
  readonly quiet: object | undefined;
}

/** How many specs of one kind are remembered. */
const MAX_SPECS = 16;

/** Smaller specs are validated and encoded faster than they are compared; larger ones would hold too much memory. */
const MIN_SPEC_BYTES = 512;
const MAX_SPEC_BYTES = 16 * 1024;

/** After this many misses in a row only one object in `MISS_SAMPLE` is compared, until one matches again. */
const MAX_MISSES = 64;
const MISS_SAMPLE = 8;

type WithSpec = KubeObject & { spec?: object };

interface KnownSpecs {
  /** Most recently used first. */
  readonly specs: SharedSpec[];
  /** Objects since the last one that matched. */
  misses: number;
}

/**
 * Lets objects that are created from one template share one spec. A new object whose spec is deeply equal to a remembered
 * one gets that very spec, which is then neither validated nor encoded again. Only for kinds with `fromTemplates`; what
 * that flag promises makes it safe (docs/decisions/0012-shared-specs.md).
 */
export class SpecInterner {
  readonly #known = new WeakMap<Kind, KnownSpecs>();

  /** Replaces the object's spec by the remembered one that equals it, and returns that; undefined when there is none. */
  intern(kind: Kind, object: WithSpec): SharedSpec | undefined {
    const known = this.#known.get(kind);
    if (!known || isSkipped(known)) return undefined;
    const { specs } = known;
    for (let i = 0; i < specs.length; i++) {
      const shared = specs[i]!;
      if (!deepEqual(shared.spec, object.spec)) continue;
      if (i > 0) {
        specs.splice(i, 1);
        specs.unshift(shared);
      }
      known.misses = 0;
      object.spec = shared.spec;
      return shared;
    }
    return undefined;
  }

  /** Remembers the spec of a stored object that `intern` had no match for. */
  remember(kind: Kind, entry: Entry, isQuiet: boolean): void {
    if (!kind.fromTemplates) return;
    let known = this.#known.get(kind);
    if (!known) {
      known = { specs: [], misses: 0 };
      this.#known.set(kind, known);
    }
    if (!isSkipped(known)) add(known.specs, entry.before(kind), isQuiet);
    known.misses++;
  }
}

/** Where all objects differ, comparing each would cost more than it gains. */
function isSkipped({ misses }: KnownSpecs): boolean {
  return misses > MAX_MISSES && misses % MISS_SAMPLE > 0;
}

function add(specs: SharedSpec[], before: Before | undefined, isQuiet: boolean): void {
  const part = before?.encoded.parts.find(({ field }) => field === 'spec');
  if (!before || !part) return;
  const size = part.end - part.start;
  if (size < MIN_SPEC_BYTES || size > MAX_SPEC_BYTES) return;
  // A copy, because the bytes are part of a large slab that would otherwise stay alive.
  const bytes = Buffer.from(before.encoded.bytes.subarray(part.start, part.end));
  const parts = [{ field: 'spec', start: 0, end: bytes.length }];
  const spec = (before.object as WithSpec).spec!;
  specs.unshift({ spec, quiet: isQuiet ? spec : undefined, object: { spec }, encoded: { bytes, parts } });
  if (specs.length > MAX_SPECS) specs.pop();
}
