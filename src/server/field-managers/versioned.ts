import { clone } from '../../base/json/tree.ts';
import type { Kind, KubeObject, Version } from '../../kinds/kind.ts';
import { decodeUnlimited } from '../../schema/decode.ts';
import { fromHub, toHub } from '../conversion/convert.ts';

/** Managers own fields in the version that they wrote. */
export class VersionedTree {
  readonly #kind: Kind;
  readonly #trees = new Map<Version, unknown>();
  readonly #given: Version;

  constructor(kind: Kind, version: Version, tree: unknown) {
    this.#kind = kind;
    this.#given = version;
    this.#trees.set(version, tree);
  }

  /** The tree in a version of its kind; it must not be changed. */
  in(version: Version): unknown {
    let tree = this.#trees.get(version);
    if (tree === undefined) {
      tree = this.#converted(version);
      this.#trees.set(version, tree);
    }
    return tree;
  }

  #converted(version: Version): unknown {
    const kind = this.#kind;
    const object = decodeUnlimited(this.#given.schema, clone(this.#trees.get(this.#given))) as KubeObject;
    const hub = toHub({ kind, version: this.#given }, object);
    const converted = hub instanceof Promise ? hub : fromHub({ kind, version }, hub);
    if (converted instanceof Promise) throw new Error(`kind ${kind.kind} is converted asynchronously`);
    return converted;
  }
}

/** The version of a kind in which a manager owns fields; undefined when it is served no longer, or cannot be converted to. */
export function versionNamed(kind: Kind, apiVersion: string, asked: Version): Version | undefined {
  if (apiVersion === asked.apiVersion) return asked;
  return kind.conversion ? undefined : kind.versions.find((each) => each.apiVersion === apiVersion);
}
