/**
 * Bodies that end alike. What is created from one template over and over, as compact JSON, differs in what stands before
 * its spec: of the rest it is enough to see that the bytes are the same.
 */
import { isTree } from '../../base/tree.ts';
import type { Version } from '../../kinds/kind.ts';
import { readOnce } from '../objects/known-specs.ts';
import { isShallow, mayHaveHostileKeys } from './body/json.ts';
import { hasDuplicates } from './body/json-duplicates.ts';

/** The end of a body, from the comma before the spec on. */
interface Ending {
  readonly bytes: Buffer;
  /** What it says: the spec, and perhaps more. */
  readonly members: { readonly spec: object };
}

/** So many endings are known of a version; more are not in use at a time. */
const MOST = 16;
const SPEC = ',"spec":';
/** Less is not worth the look, and more would keep too much. */
const LEAST_BYTES = 256;
const MOST_BYTES = 16 * 1024;

export class RepeatedBodies {
  readonly #depth: number;
  readonly #endings = new WeakMap<Version, Ending[]>();

  constructor(depth: number) {
    this.#depth = depth;
  }

  /** A body whose end is known; undefined: it must be read in full, be it that something is wrong with it. */
  read(body: Buffer, version: Version): object | undefined {
    const endings = this.#endings.get(version);
    if (!endings) return undefined;
    for (let i = 0; i < endings.length; i++) {
      const { bytes, members } = endings[i]!;
      const start = body.length - bytes.length;
      if (start <= 0 || body.compare(bytes, 0, bytes.length, start) !== 0) continue;
      if (i > 0) endings.unshift(...endings.splice(i, 1));
      return this.#complete(body.subarray(0, start), members);
    }
    return undefined;
  }

  /** The spec of this body has come before: it will come again, and objects have `like` of it in the end. */
  learn(body: Buffer, version: Version, like: object): void {
    if (body.length > MOST_BYTES) return;
    const text = body.toString();
    const at = text.indexOf(SPEC);
    const end = text.slice(at);
    if (at < 0 || end.length < LEAST_BYTES || !this.#parse(text.slice(0, at))) return;
    // The whole was parsed before: what follows a whole member is members.
    const members = JSON.parse(`{${end.slice(1)}`) as Partial<Ending['members']>;
    const bytes = Buffer.from(end);
    if (!isTree(members.spec) || hasDuplicates(bytes, members)) return;
    if (!readOnce(version.schema, { spec: members.spec }, like)) return;
    const endings = this.#endings.get(version) ?? [];
    this.#endings.set(version, endings);
    endings.unshift({ bytes, members: members as Ending['members'] });
    if (endings.length > MOST) endings.pop();
  }

  #complete(start: Buffer, members: object): object | undefined {
    const parsed = this.#parse(start.toString());
    if (!parsed || !isIdentified(parsed) || hasDuplicates(start, parsed)) return undefined;
    for (const key in members) if (Object.hasOwn(parsed, key)) return undefined;
    return Object.assign(parsed, members);
  }

  /** The beginning of an object, up to the end of a member. */
  #parse(text: string): object | undefined {
    if (!isShallow(text, this.#depth) || mayHaveHostileKeys(text) || text.includes('\ufffd')) return undefined;
    try {
      const parsed: unknown = JSON.parse(`${text}}`);
      if (isTree(parsed)) for (const _ in parsed) return parsed;
    } catch {
      // What is wrong is told by whoever reads the whole.
    }
    return undefined;
  }
}

function isIdentified({ kind = '', apiVersion = '' }: { kind?: unknown; apiVersion?: unknown }): boolean {
  return typeof kind === 'string' && typeof apiVersion === 'string';
}
