/** Finds kinds and objects by what a test calls them. */
import type { Kind, Version } from '../../kinds/kind.ts';
import type { Registry } from '../../server/objects/registry/registry.ts';
import type { Reference } from '../contract.ts';

export interface FoundKind {
  readonly kind: Kind;
  readonly version: Version;
}

/** Where an object is. */
export interface Located extends FoundKind {
  readonly namespace: string | undefined;
  readonly name: string;
}

export class Kinds {
  constructor(private readonly registry: Registry) {}

  /** A kind by its name, plural, short name or `plural.group`. The earliest group that serves it wins, as with kubectl. */
  named(name: string, apiVersion?: string): FoundKind {
    const wanted = name.toLowerCase();
    for (const kind of this.registry.kinds) {
      if (!namesOf(kind).includes(wanted)) continue;
      const version =
        apiVersion === undefined ? kind.hub : kind.versions.find((each) => each.apiVersion === apiVersion);
      if (version) return { kind, version };
    }
    throw new Error(apiVersion === undefined ? `no kind is called ${name}` : `${apiVersion} has no kind ${name}`);
  }

  locate(reference: Reference): Located {
    if (typeof reference !== 'string') {
      const { apiVersion, kind = '', metadata = {} } = reference;
      return at(this.named(kind, apiVersion), metadata.namespace, metadata.name ?? '');
    }
    const [kind = '', first = '', second, ...more] = reference.split('/');
    if (!kind || !first || more.length > 0) {
      throw new Error(`${reference} names no object: write KIND/NAME or KIND/NAMESPACE/NAME`);
    }
    return second === undefined ? at(this.named(kind), undefined, first) : at(this.named(kind), first, second);
  }
}

function at(found: FoundKind, namespace: string | undefined, name: string): Located {
  return { ...found, namespace: found.kind.scope === 'Namespaced' ? (namespace ?? 'default') : undefined, name };
}

function namesOf({ kind, plural, singular, short, group }: Kind): string[] {
  const qualified = group ? [plural, singular].map((name) => `${name}.${group}`) : [];
  return [kind.toLowerCase(), plural, singular, ...short, ...qualified];
}
