/** The whole API as one OpenAPI 2 document, assembled from the parts of the backends. */
import type { Json, OpenApiV2Part } from '../../backend.ts';
import type { Definitions } from '../definitions.ts';
import type { Endpoint, Operation } from '../operations.ts';
import { INLINE_PARAMETERS, type Parameter } from '../parameters.ts';
import { type DefinitionRenderer, type Dialect, reference } from '../schemas.ts';
import { definitionsUsed } from './reach.ts';

export const DIALECT_V2: Dialect = { references: '#/definitions/', complete: false };

export const RESPONSES = { 200: 'OK', 405: 'Method Not Allowed' } as const;

/** Returns the part of the document for some endpoints, with exactly the definitions that they use. */
export function partV2(
  endpoints: readonly Endpoint[],
  definitions: Definitions,
  renderer: DefinitionRenderer,
): OpenApiV2Part {
  const parameters: Json = {};
  const paths = Object.fromEntries(endpoints.map((endpoint) => [endpoint.path, pathItem(endpoint, parameters)]));
  return { paths, definitions: renderer.render(definitionsUsed(endpoints, definitions)), parameters };
}

/** Merges parts. If several have an entry of the same name, the first is used. */
export function documentV2(parts: readonly OpenApiV2Part[]): Json {
  const merged = (pick: (part: OpenApiV2Part) => Json) => sorted(Object.assign({}, ...parts.map(pick).reverse()));
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: 'unversioned' },
    paths: merged(({ paths }) => paths),
    definitions: merged(({ definitions }) => definitions),
    parameters: merged(({ parameters }) => parameters),
    securityDefinitions: {
      BearerToken: { description: 'A token of a user.', in: 'header', name: 'authorization', type: 'apiKey' },
    },
    security: [{ BearerToken: [] }],
  };
}

function pathItem({ operations, parameters }: Endpoint, shared: Json): Json {
  return {
    ...Object.fromEntries(operations.map((operation) => [operation.method, render(operation, shared)])),
    ...(parameters.length > 0 ? { parameters: parameters.map((parameter) => renderParameter(parameter, shared)) } : {}),
  };
}

function render(operation: Operation, shared: Json): Json {
  const { body, answer, code, kind } = operation;
  const parameters = operation.parameters.map((parameter) => renderParameter(parameter, shared));
  if (body) {
    const schema = reference(DIALECT_V2, body.definition);
    parameters.unshift({ in: 'body', name: 'body', ...(body.required ? { required: true } : {}), schema });
  }
  return {
    consumes: operation.consumes,
    description: operation.description,
    operationId: operation.id,
    ...(parameters.length > 0 ? { parameters } : {}),
    produces: operation.produces,
    responses: {
      [code]: { description: RESPONSES[code], schema: answer ? reference(DIALECT_V2, answer) : { type: 'string' } },
      '401': { description: 'Unauthorized' },
    },
    schemes: ['https'],
    tags: [operation.tag],
    ...(kind ? { 'x-kubernetes-action': operation.action, 'x-kubernetes-group-version-kind': kind } : {}),
  };
}

/** Renders a parameter. The name in a path differs by kind; other parameters are shared and referenced. */
function renderParameter(parameter: Parameter, shared: Json): Json {
  const { name } = parameter;
  const body = {
    description: parameter.description,
    in: parameter.in,
    name,
    ...(parameter.in === 'path' ? { required: true } : {}),
    type: parameter.type,
    uniqueItems: true,
  };
  if (name === 'name' || INLINE_PARAMETERS.has(name)) return body;
  shared[name] = body;
  return { $ref: `#/parameters/${name}` };
}

export function sorted(entries: Json): Json {
  return Object.fromEntries(Object.entries(entries).sort(([a], [b]) => (a < b ? -1 : 1)));
}
