/**
 * Names and records of the cluster. Records come from sources (a Service with its slices, a Pod), each of which is
 * replaced as a whole, so that the cost of a change depends on the size of its source and not of the zone.
 */
import { splitName } from '../../../protocols/dns-message/name.ts';
import type { ZoneRecord } from '../../../protocols/dns-message/record.ts';

/** New records of a source, which replace all earlier ones; none when it is gone. */
export interface ZoneChange {
  /** Identifies the source: `service/NAMESPACE/NAME`. */
  readonly source: string;
  readonly records: readonly ZoneRecord[];
}

interface Owned {
  readonly source: string;
  readonly record: ZoneRecord;
}

interface ZoneNode {
  readonly owned: Owned[];
  /** Names directly below this one. A name without records exists while there are names below it. */
  below: number;
  /** The records, without duplicates; undefined: to be computed. */
  records: readonly ZoneRecord[] | undefined;
}

const NO_RECORDS: readonly ZoneRecord[] = [];

export class Zone {
  readonly #nodes = new Map<string, ZoneNode>();
  /** Names of each source, with duplicates removed. */
  readonly #sources = new Map<string, readonly string[]>();

  /** The number of names, including those that exist only because others are below them. */
  get size(): number {
    return this.#nodes.size;
  }

  /** The records of a name; undefined when the name does not exist. */
  find(name: string): readonly ZoneRecord[] | undefined {
    const node = this.#nodes.get(name);
    if (!node) return undefined;
    node.records ??= distinct(node.owned);
    return node.records;
  }

  apply({ source, records }: ZoneChange): void {
    const before = this.#sources.get(source) ?? [];
    const after = [...new Set(records.map(({ name }) => name))];
    // New names are added first, so that the names above them are not removed and created again.
    for (const record of records) {
      const node = this.#ensure(record.name);
      node.owned.push({ source, record });
      node.records = undefined;
    }
    const added = new Set(records);
    for (const name of before) {
      const node = this.#nodes.get(name);
      if (!node) continue;
      const kept = node.owned.filter((each) => each.source !== source || added.has(each.record));
      node.owned.splice(0, node.owned.length);
      for (const each of kept) node.owned.push(each);
      node.records = undefined;
      this.#removeIfEmpty(name);
    }
    if (after.length > 0) this.#sources.set(source, after);
    else this.#sources.delete(source);
  }

  #ensure(name: string): ZoneNode {
    const known = this.#nodes.get(name);
    if (known) return known;
    const node: ZoneNode = { owned: [], below: 0, records: undefined };
    this.#nodes.set(name, node);
    if (name !== '') this.#ensure(splitName(name).parent).below++;
    return node;
  }

  #removeIfEmpty(name: string): void {
    const node = this.#nodes.get(name);
    if (!node || node.owned.length > 0 || node.below > 0) return;
    this.#nodes.delete(name);
    if (name === '') return;
    const { parent } = splitName(name);
    const above = this.#nodes.get(parent);
    if (!above) return;
    above.below--;
    this.#removeIfEmpty(parent);
  }
}

/** Sources can have the same record: two pods with the address of their node. */
function distinct(owned: readonly Owned[]): readonly ZoneRecord[] {
  if (owned.length === 0) return NO_RECORDS;
  if (owned.length === 1) return [owned[0]!.record];
  const byContent = new Map<string, ZoneRecord>();
  for (const { record } of owned) byContent.set(`${record.type} ${record.data.toString('latin1')}`, record);
  return [...byContent.values()];
}
