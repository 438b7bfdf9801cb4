import type { Kind } from '../../../kinds/kind.ts';
import { fieldNumbers } from '../../../kinds/protobuf/all.ts';
import type { Registry, Resource } from '../../objects/registry/registry.ts';
import { type Definition, Definitions } from '../openapi/definitions.ts';
import { definitionName, fixedHome } from '../openapi/names.ts';

/** Reports whether objects of a resource have a protobuf form. Custom kinds have none. */
export function hasProtobufForm({ kind, version }: Resource): boolean {
  return fieldNumbers(version.apiVersion, kind.kind) !== undefined;
}

/** The shapes of kinds with a protobuf form, collected again when one is added or removed (not for custom kinds). */
export class ProtobufShapes {
  #generation = -1;
  #kinds: readonly Kind[] = [];
  #definitions: Definitions | undefined;

  constructor(private readonly registry: Registry) {}

  /** The definitions. A change creates a new value, which invalidates data derived from the previous one. */
  get definitions(): Definitions {
    const registry = this.registry;
    if (this.#definitions && registry.generation === this.#generation) return this.#definitions;
    const kinds = [...registry.kinds].filter(isNumbered);
    const isSame = kinds.length === this.#kinds.length && kinds.every((kind, index) => kind === this.#kinds[index]);
    if (!this.#definitions || !isSame) {
      const apiVersions = new Set(kinds.flatMap(({ versions }) => versions.map(({ apiVersion }) => apiVersion)));
      const resource: Registry['resource'] = (apiVersion, plural) => registry.resource(apiVersion, plural);
      this.#definitions = new Definitions({ kinds, apiVersions, resource });
    }
    this.#kinds = kinds;
    this.#generation = registry.generation;
    return this.#definitions;
  }

  /** Finds the definition of a kind; undefined without a protobuf form. */
  find(apiVersion: string, kind: string): Definition | undefined {
    const definition = this.definitions.all.get(definitionName(fixedHome(kind) ?? apiVersion, kind));
    return definition && fieldNumbers(definition.home, definition.shape.name) ? definition : undefined;
  }
}

function isNumbered({ kind, versions }: Kind): boolean {
  return versions.some(({ apiVersion }) => fieldNumbers(apiVersion, kind) !== undefined);
}
