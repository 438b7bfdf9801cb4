import type { Kind, KubeObject, Version } from '../../../../kinds/kind.ts';
import { DecodeError, decodeUnlimited } from '../../../../schema/decode/decode.ts';
import { unpackManagers } from '../../managed-fields/stored/stored-managers.ts';

/** An object decoded from the store, with the defaults of the version that it is stored in. */
export interface StoredObject {
  readonly version: Version;
  readonly object: KubeObject;
}

/** Parses stored bytes. The parser's own message would quote them, and they may belong to a Secret. */
export function parseStored(stored: Buffer): unknown {
  try {
    const tree: unknown = JSON.parse(stored.toString());
    unpackManagers(tree);
    return tree;
  } catch {
    throw new Error('invalid JSON');
  }
}

/** Decodes stored bytes in the version named in them. Throws when the kind has no such version. */
export function decodeStored(stored: Buffer, kind: Kind): StoredObject {
  const tree = parseStored(stored);
  const { kind: name, apiVersion } = (tree ?? {}) as Partial<KubeObject>;
  const version = name === kind.kind && kind.versions.find((each) => each.apiVersion === apiVersion);
  if (!version) throw new Error(`no kind "${name}" is registered for version "${apiVersion}"`);
  try {
    return { version, object: decodeUnlimited(version.schema, tree) };
  } catch (error) {
    // An object that violates the current schema still belongs to the client. If it needs no conversion, it can be
    // shown.
    if (error instanceof DecodeError && version === kind.hub) return { version, object: tree as KubeObject };
    throw error;
  }
}
