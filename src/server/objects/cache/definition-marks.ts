/**
 * Remembers in the store which definition of a kind wrote its objects. What the present definition wrote is served as it
 * is stored; anything else is decoded first, which takes most of the time of the first list after a start.
 *
 * A mark is a row beside the objects, one for each table. It holds a fingerprint of the definition, and its own revision
 * says from when on all objects of the table were written with that definition: the mark is committed together with the
 * first object. So there is no moment at which the two disagree, whatever crashes.
 *
 * Only for a store that one program writes to at a time: others would not see each other's marks in time.
 */
import type { Kind } from '../../../kinds/kind.ts';
import type { Change, Store, Write } from '../../../store/store.ts';
import { fingerprintOf } from './fingerprint.ts';
import { tableName } from './keys.ts';
import { commitMarkers, readMarker } from './markers.ts';

const PREFIX = '/quarterdeck/kinds/';

/** The mark of earlier releases, for all kinds at once. They trust it where they find it, so it must not outlive them. */
const OLD_KEY = '/quarterdeck/release';

interface Mark {
  readonly fingerprint: string;
  readonly revision: number;
  /** The kind that was found to have this fingerprint. */
  kind?: Kind;
}

export class DefinitionMarks {
  readonly #build: string;
  /** By name of the table, such as `apps/deployments`. */
  readonly #marks = new Map<string, Mark>();
  readonly #fingerprints = new WeakMap<Kind, string>();

  private constructor(build: string) {
    this.#build = build;
  }

  /** `build` identifies the program: another one may decode the same bytes differently. */
  static async load(store: Store, build: string): Promise<DefinitionMarks> {
    const marks = new DefinitionMarks(build);
    // A mark that is damaged is as good as none.
    const damaged = () => undefined;
    if (await readMarker(store, OLD_KEY)) {
      const { rows } = await store.list(PREFIX, { damaged });
      const old = [OLD_KEY, ...rows.map(({ key }) => key)];
      await commitMarkers(
        store,
        old.map((key) => ({ key, value: null })),
      );
      return marks;
    }
    const { rows } = await store.list(PREFIX, { damaged });
    for (const row of rows) marks.#note(row.key, row.value, row.revision);
    return marks;
  }

  /** Whether the bytes that were written at this revision were written with this definition of the kind. */
  isCurrent(kind: Kind, revision: number): boolean {
    const mark = this.#markOf(kind);
    return mark !== undefined && revision >= mark.revision;
  }

  /** The write that must be committed together with an object of the kind; undefined when the mark stands already. */
  missing(kind: Kind): Write | undefined {
    if (this.#markOf(kind)) return undefined;
    return { key: PREFIX + tableName(kind), value: Buffer.from(this.#fingerprintOf(kind)), evenIfDamaged: true };
  }

  /** Takes note of a change of the store; other keys than those of marks are ignored. */
  changed({ key, value, revision }: Change): void {
    if (key.startsWith(PREFIX) && value) this.#note(key, value, revision);
  }

  #note(key: string, value: Buffer, revision: number): void {
    this.#marks.set(key.slice(PREFIX.length), { fingerprint: value.toString(), revision });
  }

  /** The mark of the kind's table, where it is this definition's. */
  #markOf(kind: Kind): Mark | undefined {
    const mark = this.#marks.get(tableName(kind));
    if (!mark || mark.kind === kind) return mark;
    if (mark.fingerprint !== this.#fingerprintOf(kind)) return undefined;
    mark.kind = kind;
    return mark;
  }

  #fingerprintOf(kind: Kind): string {
    let found = this.#fingerprints.get(kind);
    if (found === undefined) {
      found = fingerprintOf(kind, this.#build);
      this.#fingerprints.set(kind, found);
    }
    return found;
  }
}
