/** The whole API as one OpenAPI 2 document. */
import type { Registry } from '../registry.ts';
import type { Definitions } from './definitions.ts';
import { groupEndpoints, resourcesEndpoint } from './discovery.ts';
import { type Endpoint, endpointsOf, type Operation } from './operations.ts';
import { type Parameter, WRITTEN_OUT } from './parameters.ts';
import { type Dialect, type Json, reference, renderDefinitions } from './schemas.ts';

const DIALECT: Dialect = { references: '#/definitions/', complete: false };

export function documentV2(registry: Registry, definitions: Definitions): Json {
  const paths = new Map<string, Json>();
  const shared = new Map<string, Json>();
  for (const apiVersion of registry.apiVersions) {
    for (const endpoint of [resourcesEndpoint(apiVersion), ...registry.resourcesOf(apiVersion).flatMap(endpointsOf)]) {
      paths.set(endpoint.path, pathItem(endpoint, shared));
    }
  }
  for (const endpoint of groupEndpoints(registry)) paths.set(endpoint.path, pathItem(endpoint, shared));
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: 'unversioned' },
    paths: sorted(paths),
    definitions: renderDefinitions(definitions, DIALECT),
    parameters: sorted(shared),
    securityDefinitions: {
      BearerToken: { description: 'A token of a user.', in: 'header', name: 'authorization', type: 'apiKey' },
    },
    security: [{ BearerToken: [] }],
  };
}

function pathItem({ operations, parameters }: Endpoint, shared: Map<string, Json>): Json {
  return {
    ...Object.fromEntries(operations.map((operation) => [operation.method, render(operation, shared)])),
    ...(parameters.length > 0 ? { parameters: parameters.map((parameter) => renderParameter(parameter, shared)) } : {}),
  };
}

function render(operation: Operation, shared: Map<string, Json>): Json {
  const { body, answer, kind } = operation;
  const parameters = operation.parameters.map((parameter) => renderParameter(parameter, shared));
  if (body) {
    const schema = reference(DIALECT, body.definition);
    parameters.unshift({ in: 'body', name: 'body', ...(body.required ? { required: true } : {}), schema });
  }
  return {
    consumes: operation.consumes,
    description: operation.description,
    operationId: operation.id,
    ...(parameters.length > 0 ? { parameters } : {}),
    produces: operation.produces,
    responses: {
      '200': { description: 'OK', schema: answer ? reference(DIALECT, answer) : { type: 'string' } },
      '401': { description: 'Unauthorized' },
    },
    schemes: ['https'],
    tags: [operation.tag],
    ...(kind ? { 'x-kubernetes-action': operation.action, 'x-kubernetes-group-version-kind': kind } : {}),
  };
}

/** A name in a path differs from kind to kind; what else is used in many places is written down once. */
function renderParameter(parameter: Parameter, shared: Map<string, Json>): Json {
  const { name } = parameter;
  const body = {
    description: parameter.description,
    in: parameter.in,
    name,
    ...(parameter.in === 'path' ? { required: true } : {}),
    type: parameter.type,
    uniqueItems: true,
  };
  if (name === 'name' || WRITTEN_OUT.has(name)) return body;
  shared.set(name, body);
  return { $ref: `#/parameters/${name}` };
}

export function sorted(entries: ReadonlyMap<string, Json>): Json {
  return Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}
