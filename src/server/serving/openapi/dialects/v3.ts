/** Builds the OpenAPI 3 document of a group and version, with exactly the definitions that it uses. */
import type { Json } from '../../backend.ts';
import type { Definitions } from '../definitions.ts';
import type { Endpoint, Operation } from '../operations.ts';
import type { Parameter } from '../parameters.ts';
import { type DefinitionRenderer, type Dialect, reference } from '../schemas.ts';
import { definitionsUsed } from './reach.ts';
import { RESPONSES, sorted } from './v2.ts';

export const DIALECT_V3: Dialect = { references: '#/components/schemas/', complete: true };

export function documentV3(
  endpoints: readonly Endpoint[],
  definitions: Definitions,
  renderer: DefinitionRenderer,
): Json {
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'unversioned' },
    paths: sorted(Object.fromEntries(endpoints.map((endpoint) => [endpoint.path, pathItem(endpoint)]))),
    components: {
      schemas: renderer.render(definitionsUsed(endpoints, definitions)),
      securitySchemes: {
        BearerToken: { type: 'apiKey', description: 'A token of a user.', name: 'authorization', in: 'header' },
      },
    },
    security: [{ BearerToken: [] }],
  };
}

function pathItem({ operations, parameters }: Endpoint): Json {
  return {
    ...Object.fromEntries(operations.map((operation) => [operation.method, render(operation)])),
    ...(parameters.length > 0 ? { parameters: parameters.map(renderParameter) } : {}),
  };
}

function render(operation: Operation): Json {
  const { body, answer, code, kind } = operation;
  const answered = { schema: answer ? reference(DIALECT_V3, answer) : { type: 'string' } };
  return {
    tags: [operation.tag],
    description: operation.description,
    operationId: operation.id,
    ...(operation.parameters.length > 0 ? { parameters: operation.parameters.map(renderParameter) } : {}),
    ...(body
      ? {
          requestBody: {
            content: contentOf(operation.consumes, { schema: reference(DIALECT_V3, body.definition) }),
            ...(body.required ? { required: true } : {}),
          },
        }
      : {}),
    responses: {
      [code]: { description: RESPONSES[code], content: contentOf(operation.produces, answered) },
      '401': { description: 'Unauthorized' },
    },
    ...(kind ? { 'x-kubernetes-action': operation.action, 'x-kubernetes-group-version-kind': kind } : {}),
  };
}

function contentOf(types: readonly string[], content: Json): Json {
  return Object.fromEntries(types.map((type) => [type, content]));
}

function renderParameter({ name, in: place, type, description }: Parameter): Json {
  const required = place === 'path' ? { required: true } : {};
  return { name, in: place, description, ...required, schema: { type, uniqueItems: true } };
}
