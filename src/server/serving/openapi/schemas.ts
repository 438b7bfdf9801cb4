/** Shapes as JSON Schema, in the dialects of OpenAPI 2 and OpenAPI 3. */
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import { withoutUndefined } from '../../../base/json/tree.ts';
import type { ListSchema, MapSchema, ObjectSchema, Schema } from '../../../schema/schema.ts';
import type { Json } from '../backend.ts';
import type { Definition, Definitions } from './definitions.ts';
import { SCALARS } from './names.ts';
import { requiredFields } from './required.ts';

export interface Dialect {
  /** The prefix of references to definitions. */
  readonly references: string;
  /**
   * True for OpenAPI 3: defaults and enumerations are published, and a reference with sibling keywords is wrapped.
   * Clients that read OpenAPI 2 would reject them as unknown keywords.
   */
  readonly complete: boolean;
}

/** The definitions of values without fields. */
const SCALAR_DEFINITIONS: readonly (readonly [name: string, body: Json, complete?: Json])[] = [
  [
    SCALARS.time,
    { description: 'A point in time in RFC 3339 format, to the second.', format: 'date-time', type: 'string' },
  ],
  [
    SCALARS.microTime,
    { description: 'A point in time in RFC 3339 format, to the microsecond.', format: 'date-time', type: 'string' },
  ],
  [SCALARS.duration, { description: 'A duration with units, such as 1h30m or 300ms.', type: 'string' }],
  [
    SCALARS.quantity,
    {
      description:
        'A quantity: a decimal number with an optional suffix, such as 500m (thousandths), 2Gi (powers of 1024) or 3M (powers of 1000).',
      type: 'string',
    },
    {
      description:
        'A quantity: a decimal number with an optional suffix, such as 500m (thousandths), 2Gi (powers of 1024) or 3M (powers of 1000).',
      oneOf: [{ type: 'string' }, { type: 'number' }],
    },
  ],
  [
    SCALARS.intOrString,
    {
      description: 'An integer, or a string such as a percentage or a port name.',
      format: 'int-or-string',
      type: 'string',
    },
    {
      description: 'An integer, or a string such as a percentage or a port name.',
      format: 'int-or-string',
      oneOf: [{ type: 'integer' }, { type: 'string' }],
    },
  ],
  [SCALARS.any, { description: 'Any JSON object, stored as it is.', type: 'object' }],
  [SCALARS.fields, { description: 'A set of fields, as a tree of their names.', type: 'object' }],
  [SCALARS.patch, { description: 'A patch, in the format given by the Content-Type of the request.', type: 'object' }],
];

export function reference(dialect: Dialect, name: string): Json {
  return { $ref: dialect.references + name };
}

/** Writes definitions in one dialect. Each is written once, however many documents contain it. */
export class DefinitionRenderer {
  readonly #written = new Map<string, Json>();

  constructor(
    private readonly definitions: Definitions,
    private readonly dialect: Dialect,
  ) {}

  /** Returns the definitions with these names, in alphabetical order. */
  render(names: ReadonlySet<string>): Json {
    const rows: [string, Json][] = [];
    for (const [name, body, complete] of SCALAR_DEFINITIONS) {
      if (names.has(name)) rows.push([name, (this.dialect.complete && complete) || body]);
    }
    for (const definition of this.definitions.all.values()) {
      if (names.has(definition.name)) rows.push([definition.name, this.#once(definition)]);
    }
    return Object.fromEntries(rows.sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #once(definition: Definition): Json {
    return getOrInsert(this.#written, definition.name, () => this.#definition(definition));
  }

  #definition(definition: Definition): Json {
    const { shape, home, kinds } = definition;
    if (shape.published) return this.#published(shape, definition);
    const fields = Object.entries(shape.fields).sort(([a], [b]) => (a < b ? -1 : 1));
    const open = [shape, ...definition.uses].some(({ preserveUnknown }) => preserveUnknown);
    // Clients of OpenAPI 2 reject fields that are not listed, and null in required ones.
    const isListed = this.dialect.complete || !open;
    const required = requiredFields(definition).filter(
      (name) => this.dialect.complete || !shape.fields[name]?.nullable,
    );
    const description = this.#isDescribedByUses(definition) ? undefined : descriptionOf(definition);
    return withoutUndefined({
      description: description || undefined,
      properties:
        fields.length > 0 && isListed
          ? Object.fromEntries(fields.map(([name, field]) => [name, this.#property(name, field, home)]))
          : undefined,
      required: required.length > 0 && isListed ? required : undefined,
      type: 'object',
      'x-kubernetes-embedded-resource': shape.embedded ? true : undefined,
      'x-kubernetes-preserve-unknown-fields': open ? true : undefined,
      'x-kubernetes-group-version-kind': kinds.length > 0 ? kinds : undefined,
      'x-kubernetes-map-type': isAtomic(definition) ? 'atomic' : undefined,
      ...shape.extensions,
    });
  }

  /** Returns the schema that a custom kind publishes itself. */
  #published(shape: ObjectSchema, { home, kinds }: Definition): Json {
    const { metadata } = shape.fields;
    const body = shape.published!(
      this.dialect.complete ? 3 : 2,
      metadata ? this.#property('metadata', metadata, home) : {},
    );
    return {
      ...body,
      ...(kinds.length > 0 ? { 'x-kubernetes-group-version-kind': kinds } : {}),
      ...shape.extensions,
    };
  }

  #property(name: string, schema: Schema, home: string): Json {
    const { description } = schema;
    const body = name === 'fieldsV1' ? this.#reference(SCALARS.fields) : this.#value(schema, home);
    const said = this.dialect.complete ? defaultOf(schema) : undefined;
    if (description === undefined && said === undefined) return body;
    return this.#beside(body, withoutUndefined({ description, default: said }));
  }

  /**
   * Reports whether every field that uses the definition repeats its description. Clients of OpenAPI 3 such as `kubectl
   * explain` show both in a row, so the definition omits it; in a list of fields they show only the field's
   * description.
   */
  #isDescribedByUses(definition: Definition): boolean {
    const { kinds, uses, elements } = definition;
    if (!this.dialect.complete || kinds.length > 0 || elements.length > 0 || uses.length === 0) return false;
    const own = descriptionOf(definition);
    return uses.every(({ description }) => description === own);
  }

  /** Returns the schema of a value. OpenAPI 2 cannot express null: a nullable value has no type there. */
  #value(schema: Schema, home: string): Json {
    const body = this.#typed(schema, home);
    if (!schema.nullable) return body;
    if (this.dialect.complete) return this.#beside(body, { nullable: true });
    const { type: _, items: __, $ref: ___, ...untyped } = body;
    return untyped;
  }

  #typed(schema: Schema, home: string): Json {
    switch (schema.type) {
      case 'string':
        return this.#string(schema);
      case 'integer':
        return { format: schema.format, type: 'integer' };
      case 'number':
        return { format: 'double', type: 'number' };
      case 'boolean':
        return { type: 'boolean' };
      case 'intOrString':
        return this.#reference(SCALARS.intOrString);
      case 'any':
        return this.#reference(SCALARS.any);
      case 'list':
        return { items: this.#value(schema.items, home), type: 'array', ...listExtensions(schema) };
      case 'map':
        return { additionalProperties: this.#value(schema.values, home), type: 'object', ...mapExtensions(schema) };
      case 'object':
        return this.#object(schema, home);
      case 'lazy':
        return this.#value(schema.resolve(), home);
      default:
        return schema satisfies never;
    }
  }

  #string({ format, enum: words }: Schema & { type: 'string' }): Json {
    if (format === 'bytes') return { format: 'byte', type: 'string' };
    if (format) return this.#reference(SCALARS[format]);
    return this.dialect.complete && words ? { enum: words, type: 'string' } : { type: 'string' };
  }

  #object(schema: ObjectSchema, home: string): Json {
    const name = this.definitions.nameOf(schema, home);
    const definition = this.definitions.all.get(name);
    const atomic = schema.atomic ?? false;
    const strategy = schema.retainKeys ? 'retainKeys' : schema.replace ? 'replace' : undefined;
    const extensions = withoutUndefined({
      'x-kubernetes-map-type':
        definition && isAtomic(definition) !== atomic ? (atomic ? 'atomic' : 'granular') : undefined,
      'x-kubernetes-patch-strategy': strategy,
    });
    return this.#beside(this.#reference(name), extensions);
  }

  #reference(name: string): Json {
    return reference(this.dialect, name);
  }

  /** Adds keywords to a schema. OpenAPI 3 ignores keywords beside a reference, so that is wrapped in `allOf`. */
  #beside(body: Json, more: Json): Json {
    const wrapped = this.dialect.complete && '$ref' in body && Object.keys(more).length > 0;
    return wrapped ? { allOf: [body], ...more } : { ...body, ...more };
  }
}

function listExtensions({ list, keys, merge, retainKeys }: ListSchema): Json {
  return withoutUndefined({
    'x-kubernetes-list-map-keys': keys,
    'x-kubernetes-list-type': list,
    'x-kubernetes-patch-merge-key': typeof merge === 'string' ? merge : undefined,
    'x-kubernetes-patch-strategy': merge ? (retainKeys ? 'merge,retainKeys' : 'merge') : undefined,
  });
}

function mapExtensions({ atomic }: MapSchema): Json {
  return atomic ? { 'x-kubernetes-map-type': 'atomic' } : {};
}

function defaultOf({ default: value }: Schema): unknown {
  return typeof value === 'function' ? undefined : value;
}

/** Reports whether a definition is atomic, as most of its uses are. The others override it. */
function isAtomic({ shape, uses }: Definition): boolean {
  if (uses.length === 0) return shape.atomic ?? false;
  return uses.filter(({ atomic }) => atomic).length * 2 > uses.length;
}

/** Returns the shape's own description or, if it has none, that of most of its uses. */
export function descriptionOf({ shape, uses, kinds }: Definition): string | undefined {
  if (kinds.length > 0) return shape.description;
  const counts = new Map<string, number>();
  for (const { shapeDescription, description } of uses) {
    const own = shapeDescription ?? description;
    if (own) counts.set(own, (counts.get(own) ?? 0) + 1);
  }
  let best: string | undefined;
  for (const [description, count] of counts) if (!best || count > counts.get(best)!) best = description;
  return best;
}
