/**
 * Encodes an OpenAPI 2 document in protobuf, the only form that kubectl before 1.27 reads. The messages are those of
 * gnostic's `openapi.v2`, limited to the fields in documents of this server.
 */
import { ProtoWriter } from '../../../../protocols/protobuf/writer.ts';
import type { Json } from '../../backend.ts';

/** Writes the fields of a message in reverse order, because the writer goes backwards. */
type Message = (value: any, out: ProtoWriter) => void;

/** Writes one field with its tag. */
type Field = (value: any, out: ProtoWriter) => void;

const string =
  (number: number): Field =>
  (value, out) =>
    out.string(number, value);

const boolean =
  (number: number): Field =>
  (value, out) =>
    out.boolean(number, value);

const double =
  (number: number): Field =>
  (value, out) =>
    out.double(number, value);

const signed =
  (number: number): Field =>
  (value, out) =>
    out.signed(number, value);

const message =
  (number: number, write: Message): Field =>
  (value, out) =>
    out.message(number, () => write(value, out));

/** A repeated field. */
const list =
  (field: Field): Field =>
  (values, out) => {
    for (let i = values.length - 1; i >= 0; i--) field(values[i], out);
  };

/** A map, as messages with a name and a value. */
const named = (number: number, write: Message): Field =>
  list((entry, out) => {
    out.message(number, () => {
      out.message(2, () => write(entry[1], out));
      out.string(1, entry[0]);
    });
  });

const map = (number: number, write: Message): Field => {
  const entries = named(number, write);
  return (value, out) => entries(Object.entries(value), out);
};

/** Writes any value as YAML, of which JSON is a subset. */
const any: Message = (value, out) => out.string(2, `${JSON.stringify(value)}\n`);

/** Creates a message from fields by their names in JSON. Keys that begin with `x-` go to the field `extensions`. */
function fields(known: Readonly<Record<string, Field>>, extensions?: number): Message {
  const extension = extensions === undefined ? undefined : named(extensions, any);
  return (value: Json, out) => {
    const keys = Object.keys(value);
    for (let i = keys.length - 1; i >= 0; i--) {
      const key = keys[i]!;
      const field = known[key];
      if (field) field(value[key], out);
      else if (extension && key.startsWith('x-')) extension([[key, value[key]]], out);
      else throw new Error(`an OpenAPI 2 document has no ${key} here`);
    }
  };
}

const schema: Message = fields(
  {
    $ref: string(1),
    format: string(2),
    title: string(3),
    description: string(4),
    multipleOf: double(6),
    maximum: double(7),
    exclusiveMaximum: boolean(8),
    minimum: double(9),
    exclusiveMinimum: boolean(10),
    maxLength: signed(11),
    minLength: signed(12),
    pattern: string(13),
    maxItems: signed(14),
    minItems: signed(15),
    uniqueItems: boolean(16),
    maxProperties: signed(17),
    minProperties: signed(18),
    required: list(string(19)),
    enum: list(message(20, any)),
    additionalProperties: message(21, (value, out) => {
      if (typeof value === 'boolean') out.boolean(2, value);
      else out.message(1, () => schema(value, out));
    }),
    type: message(22, string(1)),
    items: message(23, (value, out) => out.message(1, () => schema(value, out))),
    properties: message(
      25,
      map(1, (value, out) => schema(value, out)),
    ),
    externalDocs: message(29, fields({ description: string(1), url: string(2) })),
    example: message(30, any),
  },
  31,
);

const bodyParameter = fields({
  description: string(1),
  name: string(2),
  in: string(3),
  required: boolean(4),
  schema: message(5, schema),
});

const queryParameter = fields({
  required: boolean(1),
  in: string(2),
  description: string(3),
  name: string(4),
  type: string(6),
  uniqueItems: boolean(20),
});

const pathParameter = fields({
  required: boolean(1),
  in: string(2),
  description: string(3),
  name: string(4),
  type: string(5),
  uniqueItems: boolean(19),
});

const nonBodyParameter: Message = (value, out) => {
  if (value.in === 'path') out.message(4, () => pathParameter(value, out));
  else out.message(3, () => queryParameter(value, out));
};

const parameter: Message = (value, out) => {
  if (value.in === 'body') out.message(1, () => bodyParameter(value, out));
  else out.message(2, () => nonBodyParameter(value, out));
};

const jsonReference = fields({ $ref: string(1) });

const parameterItem: Message = (value, out) => {
  if ('$ref' in value) out.message(2, () => jsonReference(value, out));
  else out.message(1, () => parameter(value, out));
};

const response = fields({
  description: string(1),
  schema: message(2, (value, out) => out.message(1, () => schema(value, out))),
});

const operation = fields(
  {
    tags: list(string(1)),
    description: string(3),
    operationId: string(5),
    produces: list(string(6)),
    consumes: list(string(7)),
    parameters: list(message(8, parameterItem)),
    responses: message(
      9,
      map(1, (value, out) => out.message(1, () => response(value, out))),
    ),
    schemes: list(string(10)),
  },
  13,
);

const pathItem = fields({
  get: message(2, operation),
  put: message(3, operation),
  post: message(4, operation),
  delete: message(5, operation),
  options: message(6, operation),
  head: message(7, operation),
  patch: message(8, operation),
  parameters: list(message(9, parameterItem)),
});

const apiKey = fields({ type: string(1), name: string(2), in: string(3), description: string(4) });

const document = fields({
  swagger: string(1),
  info: message(2, fields({ title: string(1), version: string(2) })),
  paths: message(8, map(2, pathItem)),
  definitions: message(9, map(1, schema)),
  parameters: message(10, map(1, parameter)),
  security: list(message(12, map(1, list(string(1))))),
  securityDefinitions: message(
    13,
    map(1, (value, out) => out.message(2, () => apiKey(value, out))),
  ),
});

/** Encodes a document, or a part of one. `size`: the estimated number of bytes. */
export function encodeDocument(value: Json, size = 1 << 20): Buffer {
  const out = new ProtoWriter(size);
  document(value, out);
  return out.finish();
}
