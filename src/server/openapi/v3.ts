/** One group and version as an OpenAPI 3 document, with all the definitions that it needs and no others. */
import type { Registry } from '../registry.ts';
import type { Definitions } from './definitions.ts';
import { resourcesEndpoint } from './discovery.ts';
import { type Endpoint, endpointsOf, type Operation } from './operations.ts';
import type { Parameter } from './parameters.ts';
import { definitionsUsed } from './reach.ts';
import { type Dialect, type Json, reference, renderDefinitions } from './schemas.ts';
import { sorted } from './v2.ts';

const DIALECT: Dialect = { references: '#/components/schemas/', complete: true };

export function documentV3(registry: Registry, definitions: Definitions, apiVersion: string): Json {
  const endpoints = [resourcesEndpoint(apiVersion), ...registry.resourcesOf(apiVersion).flatMap(endpointsOf)];
  const paths = new Map(endpoints.map((endpoint) => [endpoint.path, pathItem(endpoint)]));
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes', version: 'unversioned' },
    paths: sorted(paths),
    components: {
      schemas: renderDefinitions(definitions, DIALECT, definitionsUsed(endpoints, definitions)),
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
  const { body, answer, kind } = operation;
  const answered = { schema: answer ? reference(DIALECT, answer) : { type: 'string' } };
  return {
    tags: [operation.tag],
    description: operation.description,
    operationId: operation.id,
    ...(operation.parameters.length > 0 ? { parameters: operation.parameters.map(renderParameter) } : {}),
    ...(body
      ? {
          requestBody: {
            content: contentOf(operation.consumes, { schema: reference(DIALECT, body.definition) }),
            ...(body.required ? { required: true } : {}),
          },
        }
      : {}),
    responses: {
      '200': { description: 'OK', content: contentOf(operation.produces, answered) },
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
