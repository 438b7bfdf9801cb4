/** Swagger 1.2 documents by group and version, with which clients of Kubernetes 1.7 validate objects. */
import type { Schema } from '../../../../schema/schema.ts';
import type { Json } from '../../backend.ts';
import type { Definition, Definitions } from '../definitions.ts';
import { type Endpoint, type Operation, rootOf } from '../operations.ts';
import type { Parameter } from '../parameters.ts';
import { requiredFields } from '../required.ts';
import { descriptionOf } from '../schemas.ts';
import { definitionsUsed } from './reach.ts';
import { RESPONSES, sorted } from './v2.ts';

const VERSION = { swaggerVersion: '1.2' };

export function swaggerListing(apiVersions: readonly string[]): Json {
  const roots = apiVersions.map(rootOf).sort();
  return {
    ...VERSION,
    apis: roots.map((path) => ({ path, description: `API at ${path}` })),
    apiVersion: '',
    info: { title: '', description: '' },
  };
}

export function swaggerDeclaration(apiVersion: string, endpoints: readonly Endpoint[], definitions: Definitions): Json {
  const resourcePath = rootOf(apiVersion);
  return {
    ...VERSION,
    apiVersion,
    basePath: '/',
    resourcePath,
    info: { title: '', description: '' },
    apis: endpoints.map((endpoint) => renderEndpoint(endpoint, resourcePath)),
    models: modelsOf(definitions, definitionsUsed(endpoints, definitions), apiVersion),
  };
}

function renderEndpoint({ path, operations, parameters }: Endpoint, root: string): Json {
  return {
    path,
    description: `API at ${root}`,
    operations: operations.map((operation) => renderOperation(operation, parameters)),
  };
}

function renderOperation(operation: Operation, shared: readonly Parameter[]): Json {
  const { body, answer, code } = operation;
  const type = answer ? modelName(answer) : 'string';
  const parameters: Json[] = [...operation.parameters, ...shared].map((parameter) => ({
    type: parameter.type,
    paramType: parameter.in,
    name: parameter.name,
    description: parameter.description,
    required: parameter.in === 'path',
    allowMultiple: false,
  }));
  if (body) {
    const model = { type: modelName(body.definition), paramType: 'body', name: 'body', description: '' };
    parameters.push({ ...model, required: body.required, allowMultiple: false });
  }
  return {
    type,
    method: operation.method.toUpperCase(),
    summary: operation.description,
    nickname: operation.id,
    parameters,
    responseMessages: [{ code, message: RESPONSES[code], responseModel: type }],
    produces: operation.produces,
    consumes: operation.consumes,
  };
}

/** Returns models, whose names have no group. If two models have the same name, the one of this group is used. */
function modelsOf(definitions: Definitions, names: ReadonlySet<string>, apiVersion: string): Json {
  const models: Json = {};
  const used = [...definitions.all.values()].filter(({ name }) => names.has(name));
  const own = used.filter(({ home }) => home === apiVersion);
  for (const definition of [...used, ...own]) {
    models[modelName(definition.name)] = renderModel(definition, definitions);
  }
  models['v1.Patch'] = { id: 'v1.Patch', properties: {} };
  return sorted(models);
}

function renderModel(definition: Definition, definitions: Definitions): Json {
  const fields = Object.entries(definition.shape.fields);
  const required = requiredFields(definition);
  const properties = fields.map(([name, field]) => {
    const { description } = field;
    return [name, { ...typeOf(field, definition, definitions), ...(description ? { description } : {}) }];
  });
  const description = descriptionOf(definition);
  return {
    id: modelName(definition.name),
    ...(description ? { description } : {}),
    ...(required.length > 0 ? { required } : {}),
    properties: Object.fromEntries(properties),
  };
}

function typeOf(schema: Schema, from: Definition, definitions: Definitions): Json {
  switch (schema.type) {
    case 'string':
    case 'intOrString':
      return { type: 'string' };
    case 'integer':
      return { type: 'integer', format: schema.format };
    case 'number':
      return { type: 'number', format: 'double' };
    case 'boolean':
      return { type: 'boolean' };
    case 'list':
      return { type: 'array', items: typeOf(schema.items, from, definitions) };
    // Swagger 1.2 has no maps.
    case 'map':
    case 'any':
      return { type: 'object' };
    case 'object':
      return { $ref: modelName(definitions.nameOf(schema, from.home)) };
    case 'lazy':
      return typeOf(schema.resolve(), from, definitions);
    default:
      return schema satisfies never;
  }
}

/** Returns a model name: `v1.Pod` for `io.k8s.api.core.v1.Pod`. */
function modelName(definition: string): string {
  return definition.split('.').slice(-2).join('.');
}
