import { clone } from '../../../../base/json/tree.ts';
import type { AsyncConversion, KubeObject, Version } from '../../../../kinds/kind.ts';
import { convertAll } from '../../conversion/convert.ts';
import type { Resource } from '../../registry/registry.ts';
import type { Entry } from './entry.ts';

/**
 * Performs the asynchronous conversions that entries need before they can be read, in the stored version and in that of
 * the resource. Returns undefined when they can be read at once, as for every kind with synchronous conversion.
 */
export function prepare(entries: readonly Entry[], resource: Resource): Promise<void> | undefined {
  const { conversion } = resource.kind;
  if (!conversion || entries.every((entry) => entry.isReady(resource))) return undefined;
  return convertEntries(entries, resource, conversion);
}

async function convertEntries(
  entries: readonly Entry[],
  { kind, version }: Resource,
  conversion: AsyncConversion,
): Promise<void> {
  const { hub } = kind;
  const stored = entries.filter((entry) => !entry.isReady({ kind, version: hub }));
  await convertGroups(stored, hub, {
    read: (entry) => entry.decode(kind),
    convert: (objects) => convertAll(conversion, objects, hub),
    accept: (entry, object) => entry.accept({ kind, version: hub }, object),
  });
  const missing = entries.filter((entry) => !entry.isReady({ kind, version }));
  await convertGroups(missing, version, {
    read: (entry) => ({ version: hub, object: clone(entry.hub(kind)) }),
    convert: (objects) => convertAll(conversion, objects, version),
    accept: (entry, object) => entry.accept({ kind, version }, object),
  });
}

interface Steps {
  readonly read: (entry: Entry) => { readonly version: Version; readonly object: KubeObject };
  readonly convert: (objects: readonly KubeObject[]) => Promise<readonly KubeObject[]>;
  readonly accept: (entry: Entry, object: KubeObject) => void;
}

/** Converts entries in several versions, one batch per version. */
async function convertGroups(entries: readonly Entry[], target: Version, steps: Steps): Promise<void> {
  const groups = new Map<Version, { entry: Entry; object: KubeObject }[]>();
  for (const entry of entries) {
    const { version, object } = steps.read(entry);
    const group = groups.get(version);
    if (group) group.push({ entry, object });
    else groups.set(version, [{ entry, object }]);
  }
  for (const [version, group] of groups) {
    const objects = group.map(({ object }) => object);
    const converted = version === target ? objects : await steps.convert(objects);
    for (const [index, { entry }] of group.entries()) steps.accept(entry, converted[index]!);
  }
}
