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
  /** The same spec, where there was nothing to say about the object that had it first. */
  readonly quiet: object | undefined;
}

/** So many templates are in use at a time; more are not remembered. */
const MOST = 16;

/** What is smaller is checked and encoded faster than it is found; what is larger would keep too much. */
const LEAST_BYTES = 512;
const MOST_BYTES = 16 * 1024;

type WithSpec = KubeObject & { spec?: object };

/** After so many that were like none, only one in a few is looked at, until one is like another again. */
const PATIENCE = 64;
const ONE_IN = 8;

interface Known {
  /** The latest in use first. */
  readonly templates: Template[];
  /** Objects since the last one that was made from one of them. */
  strangers: number;
}

export class Alike {
  readonly #known = new WeakMap<Kind, Known>();

  /** What the object was made from, as far as that is known; the object then has the very spec of the others. */
  of(kind: Kind, object: WithSpec): Template | undefined {
    const known = this.#known.get(kind);
    if (!known || isPassedOver(known)) return undefined;
    const { templates } = known;
    for (let i = 0; i < templates.length; i++) {
      const template = templates[i]!;
      if (!deepEqual(template.spec, object.spec)) continue;
      if (i > 0) templates.unshift(...templates.splice(i, 1));
      known.strangers = 0;
      object.spec = template.spec;
      return template;
    }
    return undefined;
  }

  /** Remembers an object that was stored and was like none. */
  note(kind: Kind, entry: Entry, isQuiet: boolean): void {
    if (!kind.fromTemplates) return;
    let known = this.#known.get(kind);
    if (!known) {
      known = { templates: [], strangers: 0 };
      this.#known.set(kind, known);
    }
    if (!isPassedOver(known)) remember(known.templates, entry.before(kind), isQuiet);
    known.strangers++;
  }
}

/** Where all are different, looking for another of the same would cost more than it gains. */
function isPassedOver({ strangers }: Known): boolean {
  return strangers > PATIENCE && strangers % ONE_IN > 0;
}

function remember(templates: Template[], before: Before | undefined, isQuiet: boolean): void {
  const part = before?.encoded.parts.find(({ field }) => field === 'spec');
  if (!before || !part) return;
  const size = part.end - part.start;
  if (size < LEAST_BYTES || size > MOST_BYTES) return;
  // A copy: the bytes lie in something large that nobody else may need any more.
  const bytes = Buffer.from(before.encoded.bytes.subarray(part.start, part.end));
  const parts = [{ field: 'spec', start: 0, end: bytes.length }];
  const spec = (before.object as WithSpec).spec!;
  templates.unshift({ spec, quiet: isQuiet ? spec : undefined, object: { spec }, encoded: { bytes, parts } });
  if (templates.length > MOST) templates.pop();
}
