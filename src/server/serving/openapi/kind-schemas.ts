import type { Registry } from '../../objects/registry/registry.ts';
import type { BackendSchemas } from '../backend.ts';
import { Definitions } from './definitions.ts';
import { swaggerDeclaration } from './dialects/swagger.ts';
import { DIALECT_V2, partV2 } from './dialects/v2.ts';
import { DIALECT_V3, documentV3 } from './dialects/v3.ts';
import { resourcesEndpoint } from './discovery.ts';
import { type Endpoint, endpointsOf } from './operations.ts';
import { DefinitionRenderer } from './schemas.ts';

/** The definitions shared by the documents of all groups and versions. */
interface Shared {
  readonly generation: number;
  readonly definitions: Definitions;
  readonly v2: DefinitionRenderer;
  readonly v3: DefinitionRenderer;
}

export class KindSchemas {
  #shared: Shared | undefined;

  constructor(private readonly registry: Registry) {}

  of(apiVersion: string): BackendSchemas {
    const endpoints = (): Endpoint[] => this.registry.resourcesOf(apiVersion).flatMap(endpointsOf);
    const listed = () => [resourcesEndpoint(apiVersion), ...endpoints()];
    return {
      v2: () => {
        const { definitions, v2 } = this.#current();
        return partV2(listed(), definitions, v2);
      },
      v3: () => {
        const { definitions, v3 } = this.#current();
        return documentV3(listed(), definitions, v3);
      },
      swagger: () => swaggerDeclaration(apiVersion, endpoints(), this.#current().definitions),
    };
  }

  /** Returns the definitions, rebuilt when kinds change: the name of a shape depends on all kinds that have it. */
  #current(): Shared {
    const { generation } = this.registry;
    if (this.#shared?.generation !== generation) {
      const definitions = new Definitions(this.registry);
      const v2 = new DefinitionRenderer(definitions, DIALECT_V2);
      this.#shared = { generation, definitions, v2, v3: new DefinitionRenderer(definitions, DIALECT_V3) };
    }
    return this.#shared;
  }
}
