import { s } from '../../../../schema/builders.ts';
import type { Fields, ObjectSchema } from '../../../../schema/schema.ts';

/** Any JSON value. Clients must not take it for an object, so that it is published without a type. */
const anyValue = (description: string) => freeForm('JSON', 'Any JSON value.', description);

function freeForm(name: string, shape: string, description: string): ObjectSchema {
  return Object.freeze({
    type: 'object',
    name,
    fields: {},
    preserveUnknown: true,
    lenient: true,
    keepEmpty: true,
    description,
    shapeDescription: shape,
    published: () => ({ description: shape }),
  } as const);
}

/** A schema, or a value of another type that the rules know how to read. */
const schemaOr = (name: string, shape: string, description: string) => {
  return s.lazy(() => unions.get(name) ?? union(name, shape), description);
};

const unions = new Map<string, ObjectSchema>();

function union(name: string, description: string): ObjectSchema {
  const published = () => ({ description });
  const schema: ObjectSchema = Object.freeze({ type: 'object', name, fields, lenient: true, description, published });
  unions.set(name, schema);
  return schema;
}

const self = (description: string) => s.lazy(() => JSONSchemaProps, description);

const schemas = (description: string) =>
  s.list(
    s.lazy(() => JSONSchemaProps),
    description,
  );

const named = (description: string) =>
  s.map(
    s.lazy(() => JSONSchemaProps),
    description,
  );

const ValidationRule = s.object('ValidationRule', 'A rule that objects must comply with.', {
  rule: s.string(
    'CEL expression that must be true. `self` is the value at this place of the schema, `oldSelf` what an update replaces.',
    { zero: true },
  ),
  message: s.string('Message when the rule fails. Required if the rule has line breaks. Defaults to `failed rule: …`.'),
  messageExpression: s.string(
    'CEL expression that returns the message when the rule fails. Takes precedence over message.',
  ),
  reason: s.string(
    'Machine-readable reason of the failure: FieldValueInvalid, FieldValueForbidden, FieldValueRequired or FieldValueDuplicate. Defaults to FieldValueInvalid.',
  ),
  fieldPath: s.string(
    'Path of the field that the failure is reported for, relative to this place, such as `.spec.size`.',
  ),
  optionalOldSelf: s.boolean(
    'Makes oldSelf an optional value, and the rule run on creation, too. Only for rules that use oldSelf.',
  ),
});

const fields: Fields = {
  id: s.string('Identifier of the schema. Not supported.'),
  $schema: s.string('URL of the dialect of the schema. Ignored.'),
  $ref: s.string('Reference to another schema. Not supported.'),
  description: s.string('What the value means, for people.'),
  type: s.string('Type of the value: array, boolean, integer, number, object or string.'),
  format: s.string(
    'Format of a string or width of a number, such as date-time, ipv4, uuid, int32 or int64. Unknown ones are ignored.',
  ),
  title: s.string('Short name of the value, for people.'),
  default: anyValue('Value of the field if an object leaves it out.'),
  maximum: s.number('Largest number that is allowed.'),
  exclusiveMaximum: s.boolean('Whether the maximum itself is not allowed.'),
  minimum: s.number('Smallest number that is allowed.'),
  exclusiveMinimum: s.boolean('Whether the minimum itself is not allowed.'),
  maxLength: s.int64('Largest number of characters of a string.'),
  minLength: s.int64('Smallest number of characters of a string.'),
  pattern: s.string('Regular expression, in the syntax of RE2, that a string must match.'),
  maxItems: s.int64('Largest number of items of a list.'),
  minItems: s.int64('Smallest number of items of a list.'),
  uniqueItems: s.boolean('Whether the items of a list must differ. Not supported; see list types.'),
  multipleOf: s.number('Number of which the value must be a multiple.'),
  enum: s.list(anyValue('A value that is allowed.'), 'Values that are allowed.'),
  maxProperties: s.int64('Largest number of fields of an object.'),
  minProperties: s.int64('Smallest number of fields of an object.'),
  required: s.list(s.string(), 'Names of the fields that an object must have.'),
  items: schemaOr('JSONSchemaPropsOrArray', 'A schema, or a list of schemas.', 'Schema of the items of a list.'),
  allOf: schemas('Schemas that all must fit the value.'),
  oneOf: schemas('Schemas of which exactly one must fit the value.'),
  anyOf: schemas('Schemas of which at least one must fit the value.'),
  not: self('Schema that must not fit the value.'),
  properties: named('Schemas of the fields of an object, by name.'),
  additionalProperties: schemaOr(
    'JSONSchemaPropsOrBool',
    'A schema, or whether there may be values.',
    'Schema of all values of an object that is a map. Excludes properties.',
  ),
  patternProperties: named('Schemas of fields by patterns of their names. Not supported.'),
  dependencies: s.map(
    schemaOr('JSONSchemaPropsOrStringArray', 'A schema, or a list of names.', 'What a field depends on.'),
    'Fields that depend on others. Not supported.',
  ),
  additionalItems: schemaOr(
    'JSONSchemaPropsOrBool',
    'A schema, or whether there may be values.',
    'Schema of further items of a list. Not supported.',
  ),
  definitions: named('Schemas that others refer to. Not supported.'),
  externalDocs: s.object('ExternalDocumentation', 'A document outside of the API.', {
    description: s.string('What the document is about.'),
    url: s.string('Where the document is, as a URL.'),
  }),
  example: anyValue('An example of a value.'),
  nullable: s.boolean('Whether the value may be null.'),
  'x-kubernetes-preserve-unknown-fields': s.boolean(
    'Keeps fields that the schema does not describe, which are dropped otherwise. True or absent.',
  ),
  'x-kubernetes-embedded-resource': s.boolean(
    'Whether the value is itself an object with apiVersion, kind and metadata.',
  ),
  'x-kubernetes-int-or-string': s.boolean('Whether the value is an integer or a string.'),
  'x-kubernetes-list-map-keys': s.list(s.string(), 'Fields that identify an item of a list of type map.'),
  'x-kubernetes-list-type': s.string(
    'How server-side apply merges a list: `atomic` as a whole, `set` by value, `map` by the keys of the items.',
  ),
  'x-kubernetes-map-type': s.string(
    'How server-side apply merges an object: `granular` by field, or `atomic` as a whole.',
  ),
  'x-kubernetes-validations': s.listMap(
    ValidationRule,
    'Rules in the expression language CEL that the value must comply with.',
    { keys: ['rule'], merge: 'rule' },
  ),
};

/** A JSON schema of OpenAPI 3, as far as custom kinds can use it. */
export const JSONSchemaProps: ObjectSchema = s.object(
  'JSONSchemaProps',
  'A JSON schema: what a value looks like, and which values are valid.',
  fields,
) as ObjectSchema;
