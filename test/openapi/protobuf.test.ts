/** Tests that the protobuf form equals the JSON form, for a reader that shares nothing with our writer. */
import { join } from 'node:path';
import { load } from '@grpc/proto-loader';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { allKinds } from '../../src/kinds/all.ts';
import { Registry } from '../../src/server/objects/registry/registry.ts';
import { allSubresources } from '../../src/server/operations/subresources/all.ts';
import { BackendRegistry } from '../../src/server/serving/backends/backend-registry.ts';
import { OpenApi } from '../../src/server/serving/openapi/openapi.ts';

const PROTOBUF = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';

async function readBoth(): Promise<{ json: any; decoded: any }> {
  const openApi = new OpenApi(new BackendRegistry(new Registry(allKinds, allSubresources)));
  const json = await openApi.document('/openapi/v2', 'application/json');
  const protobuf = await openApi.document('/openapi/v2', PROTOBUF);
  const messages: any = await load(join(import.meta.dirname, 'openapi-v2.proto'), { keepCase: true, arrays: false });
  return {
    json: JSON.parse(String(json?.body)),
    decoded: messages['openapi.v2.Reader'].Read.requestDeserialize(protobuf?.body),
  };
}

const mapOf = (named: any[] = [], read: (value: any) => unknown) =>
  Object.fromEntries(named.map(({ name, value }) => [name, read(value)]));

/** Drops fields that protobuf lacks when JSON does not have them. */
const present = (tree: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(tree).filter(([, value]) => value !== undefined));

const extensionsOf = (value: any) => mapOf(value.vendor_extension, ({ yaml }) => parse(yaml));

function schemaOf(value: any): any {
  return present({
    $ref: value._ref,
    format: value.format,
    description: value.description,
    required: value.required,
    additionalProperties: value.additional_properties && schemaOf(value.additional_properties.schema),
    type: value.type?.value[0],
    items: value.items && schemaOf(value.items.schema[0]),
    properties: value.properties && mapOf(value.properties.additional_properties, schemaOf),
    ...extensionsOf(value),
  });
}

function parameterOf({ body_parameter: body, non_body_parameter: other }: any): any {
  if (body) return present({ ...body, schema: schemaOf(body.schema) });
  const { unique_items: uniqueItems, ...rest } = other.query_parameter_sub_schema ?? other.path_parameter_sub_schema;
  return { ...rest, uniqueItems };
}

const parameterItemOf = ({ parameter, json_reference: reference }: any) =>
  reference ? { $ref: reference._ref } : parameterOf(parameter);

function operationOf({ operation_id: operationId, vendor_extension, parameters, responses, ...rest }: any): any {
  return present({
    ...rest,
    operationId,
    parameters: parameters?.map(parameterItemOf),
    responses: mapOf(responses.response_code, ({ response }) =>
      present({ ...response, schema: response.schema && schemaOf(response.schema.schema) }),
    ),
    ...extensionsOf({ vendor_extension }),
  });
}

function pathItemOf({ parameters, ...operations }: any): any {
  const read = Object.entries(operations).map(([method, operation]) => [method, operationOf(operation)]);
  return present({ ...Object.fromEntries(read), parameters: parameters?.map(parameterItemOf) });
}

describe('the protobuf form', async () => {
  const { json, decoded } = await readBoth();

  it('has every definition as it is', () => {
    expect(mapOf(decoded.definitions.additional_properties, schemaOf)).toEqual(json.definitions);
  });

  it('has every path with its operations', () => {
    expect(mapOf(decoded.paths.path, pathItemOf)).toEqual(json.paths);
  });

  it('has what stands around them', () => {
    expect(mapOf(decoded.parameters.additional_properties, parameterOf)).toEqual(json.parameters);
    expect({ swagger: decoded.swagger, info: decoded.info }).toEqual({ swagger: json.swagger, info: json.info });
    expect(mapOf(decoded.security_definitions.additional_properties, (value) => value.api_key_security)).toEqual(
      json.securityDefinitions,
    );
  });
});
