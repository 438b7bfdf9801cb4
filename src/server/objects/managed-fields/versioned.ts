import { clone } from '../../../base/json/tree.ts';
import type { Kind, KubeObject, Version } from '../../../kinds/kind.ts';
import { decodeUnlimited } from '../../../schema/decode/decode.ts';
import { fromHub, toHub } from '../conversion/convert.ts';

/** A tree in the versions in which managers own its fields. */
export class VersionedTree {
  readonly #given: Version;
  /** The tree in other versions, which are rarely used. */
  #converted: Map<Version, unknown> | undefined;

  constructor(
    private readonly kind: Kind,
    version: Version,
    private readonly tree: unknown,
  ) {
    this.#given = version;
  }

  /** Returns the tree in a version of its kind; it must not be changed. */
  in(version: Version): unknown {
    if (version === this.#given) return this.tree;
    this.#converted ??= new Map();
    let tree = this.#converted.get(version);
    if (tree === undefined) {
      tree = this.#convert(version);
      this.#converted.set(version, tree);
    }
    return tree;
  }

  #convert(version: Version): unknown {
    const kind = this.kind;
    const object = decodeUnlimited(this.#given.schema, clone(this.tree)) as KubeObject;
    const hub = toHub({ kind, version: this.#given }, object);
    const converted = hub instanceof Promise ? hub : fromHub({ kind, version }, hub);
    if (converted instanceof Promise) throw new Error(`kind ${kind.kind} is converted asynchronously`);
    return converted;
  }
}

/** Returns the version in which a manager owns fields; undefined if it is not served, or cannot be converted to. */
export function versionNamed(kind: Kind, apiVersion: string, asked: Version): Version | undefined {
  if (apiVersion === asked.apiVersion) return asked;
  return kind.conversion ? undefined : kind.versions.find((each) => each.apiVersion === apiVersion);
}
