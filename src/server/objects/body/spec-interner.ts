import { deepEqual } from '../../../base/json/tree.ts';
import type { Kind, KubeObject } from '../../../kinds/kind.ts';
import type { Before } from '../cache/entry/encoding.ts';
import type { Entry } from '../cache/entry/entry.ts';

/** A validated spec that later objects with an equal one share, with its encoded bytes. */
export interface SharedSpec extends Before {
  readonly spec: object;
  /** The spec if it gave no warnings in its first object; otherwise undefined. */
  readonly quiet: object | undefined;
}

/** Number of specs that are remembered for each kind. */
const MAX_SPECS = 16;

/** Size limits of shared specs: smaller ones are compared slower than encoded, larger ones hold too much memory. */
const MIN_SPEC_BYTES = 512;
const MAX_SPEC_BYTES = 16 * 1024;

/** Number of consecutive misses after which only one object in `MISS_SAMPLE` is compared, until one matches again. */
const MAX_MISSES = 64;
const MISS_SAMPLE = 8;

type WithSpec = KubeObject & { spec?: object };

interface KnownSpecs {
  /** Specs, most recently used first. */
  readonly specs: SharedSpec[];
  /** Number of objects since the last match. */
  misses: number;
}

/**
 * Lets objects that are created from one template share one spec. A new object whose spec is deeply equal to a
 * remembered one gets that very spec, which is then neither validated nor encoded again. Only for kinds with
 * `fromTemplates`, whose guarantees make it safe (docs/decisions/0012-shared-specs.md).
 */
export class SpecInterner {
  readonly #known = new WeakMap<Kind, KnownSpecs>();

  /** Replaces the object's spec by an equal remembered one, and returns that; undefined when there is none. */
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

  /** Remembers the spec of a stored object for which `intern` found no match. */
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

/** Reports whether to skip the comparison: if all objects differ, comparing each would cost more than it gains. */
function isSkipped({ misses }: KnownSpecs): boolean {
  return misses > MAX_MISSES && misses % MISS_SAMPLE > 0;
}

function add(specs: SharedSpec[], before: Before | undefined, isQuiet: boolean): void {
  const part = before?.encoded.parts.find(({ field }) => field === 'spec');
  if (!before || !part) return;
  const size = part.end - part.start;
  if (size < MIN_SPEC_BYTES || size > MAX_SPEC_BYTES) return;
  // Copied, because the bytes are part of a large slab that would otherwise stay alive.
  const bytes = Buffer.from(before.encoded.bytes.subarray(part.start, part.end));
  const parts = [{ field: 'spec', start: 0, end: bytes.length }];
  const spec = (before.object as WithSpec).spec!;
  specs.unshift({ spec, quiet: isQuiet ? spec : undefined, object: { spec }, encoded: { bytes, parts } });
  if (specs.length > MAX_SPECS) specs.pop();
}
