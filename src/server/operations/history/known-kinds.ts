import type { Kind } from '../../../kinds/kind.ts';
import { tableName } from '../../objects/cache/keys.ts';
import type { Registry } from '../../objects/registry/registry.ts';
import type { ChangedKind } from './change.ts';

/** Kinds by the tables of their objects. */
export interface KnownKinds {
  /** Returns the kind of a table; undefined when it is not served, which may be over since its objects were written. */
  find(table: string): Kind | undefined;
  /** Returns a description, which has no kind and no version when it is not served. */
  of(table: string): ChangedKind;
}

export function knownKinds(registry: Registry): KnownKinds {
  const kinds = new Map([...registry.kinds].map((kind) => [tableName(kind), kind]));
  return {
    find: (table) => kinds.get(table),
    of(table) {
      const kind = kinds.get(table);
      if (kind) return { group: kind.group, version: kind.hub.version, resource: kind.plural, kind: kind.kind };
      const [group = '', resource = ''] = table.split('/');
      return { group: group === 'core' ? '' : group, version: '', resource, kind: '' };
    },
  };
}
