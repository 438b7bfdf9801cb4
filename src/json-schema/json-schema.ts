/** A structural JSON schema, as the `openAPIV3Schema` of a CustomResourceDefinition writes it. */
import { isTree } from '../base/json/tree.ts';

export interface ValidationRule {
  readonly rule?: string;
  readonly message?: string;
  readonly messageExpression?: string;
  readonly reason?: string;
  readonly fieldPath?: string;
  readonly optionalOldSelf?: boolean;
}

export interface JsonSchema {
  readonly type?: string;
  readonly format?: string;
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  readonly maximum?: number;
  readonly exclusiveMaximum?: boolean;
  readonly minimum?: number;
  readonly exclusiveMinimum?: boolean;
  readonly multipleOf?: number;
  readonly maxLength?: number;
  readonly minLength?: number;
  readonly pattern?: string;
  readonly maxItems?: number;
  readonly minItems?: number;
  readonly uniqueItems?: boolean;
  readonly maxProperties?: number;
  readonly minProperties?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema | readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly not?: JsonSchema;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: string;
  readonly 'x-kubernetes-validations'?: readonly ValidationRule[];
  // Words that structural schemas do not have; a definition that uses them is rejected.
  readonly id?: string;
  readonly $ref?: string;
  readonly definitions?: Readonly<Record<string, JsonSchema>>;
  readonly dependencies?: object;
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalItems?: JsonSchema | boolean;
}

/** Returns the schema of all items of a list; undefined if it has none, or one for each position. */
export function itemsOf({ items }: JsonSchema): JsonSchema | undefined {
  return isTree(items) ? (items as JsonSchema) : undefined;
}

/** Returns the schema of the values of a map; undefined if it has none, or a boolean. */
export function valuesOf({ additionalProperties }: JsonSchema): JsonSchema | undefined {
  return isTree(additionalProperties) ? (additionalProperties as JsonSchema) : undefined;
}

/** A property, and not something of `Object.prototype`. */
export function propertyOf({ properties }: JsonSchema, name: string): JsonSchema | undefined {
  return properties && Object.hasOwn(properties, name) ? properties[name] : undefined;
}
