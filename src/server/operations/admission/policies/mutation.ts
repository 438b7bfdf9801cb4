/** The compiled expressions of a MutatingAdmissionPolicy, and the changes they make. */

import { isTree, put, type Tree } from '../../../../base/json/tree.ts';
import { CostBudget } from '../../../../cel/program.ts';
import { Failure } from '../../../../cel/values/failure.ts';
import { isMap, mapGet, mapKeys } from '../../../../cel/values/map.ts';
import { deepSizeOf } from '../../../../cel/values/size.ts';
import { typeNameOf } from '../../../../cel/values/type-of.ts';
import { Double, ObjectValue, Optional, Uint, type Value } from '../../../../cel/values/value.ts';
import type { Compiled } from '../../../../kinds/groups/extension/admissionregistration/expressions/compile.ts';
import {
  compileMatchCondition,
  type NamedExpression,
  PolicyCompiler,
} from '../../../../kinds/groups/extension/admissionregistration/expressions/policy-compiler.ts';
import type {
  MutatingAdmissionPolicy,
  Mutation,
} from '../../../../kinds/groups/extension/admissionregistration/policies/mutating-admission-policy.ts';
import type { KubeObject } from '../../../../kinds/kind.ts';
import { checkFields, errorText } from '../../../../schema/fields/check.ts';
import { type AnySchema, containerOf, schemaAt } from '../../../../schema/fields/container.ts';
import { elementText, fieldElement } from '../../../../schema/fields/element.ts';
import { mergeFields } from '../../../../schema/fields/merge.ts';
import { applyJsonPatch } from '../../../../schema/patch/json-patch.ts';
import { PatchError, PatchTestError } from '../../../../schema/patch/patch-error.ts';
import type { ObjectSchema, Schema } from '../../../../schema/schema.ts';
import { isTooLarge } from '../../../objects/transaction/object-size.ts';
import type { Activation } from '../expressions/activation.ts';
import { ExpressionFailed, evaluate, POLICY_COST_BUDGET } from '../expressions/evaluation.ts';

export interface CompiledMutations {
  readonly variables: readonly NamedExpression[];
  readonly conditions: readonly Compiled[];
  readonly mutators: readonly Mutator[];
}

/** The object to change, in the version that its schema describes. */
interface Subject {
  readonly schema: ObjectSchema;
  readonly object: KubeObject;
}

/** Resolves with the changed object. Rejects with ExpressionFailed. */
export type Mutator = (subject: Subject, activation: Activation) => Promise<unknown>;

export function compileMutations({ spec }: MutatingAdmissionPolicy): CompiledMutations {
  const { variables = [], mutations = [], matchConditions = [], paramKind } = spec;
  const hasParams = paramKind !== undefined;
  const compiler = new PolicyCompiler({ hasParams, variables });
  return {
    variables: compiler.variables,
    conditions: matchConditions.map(({ expression }) => compileMatchCondition(expression, hasParams)),
    mutators: mutations.map((mutation) => mutatorOf(compiler, mutation)),
  };
}

function mutatorOf(compiler: PolicyCompiler, { patchType, applyConfiguration: apply, jsonPatch }: Mutation): Mutator {
  const isPatch = patchType === 'JSONPatch';
  const expression = ((isPatch ? jsonPatch : apply)?.expression ?? '').trim();
  const compiled = isPatch ? compiler.jsonPatch(expression) : compiler.applyConfiguration(expression);
  const change = isPatch ? patched : merged;
  return async (subject, activation) => {
    if (!compiled.program) throw new ExpressionFailed(compiled.error);
    const value = await evaluate(compiled, activation, new CostBudget(POLICY_COST_BUDGET));
    checkSize(value);
    try {
      return change(subject, value);
    } catch (error) {
      if (error instanceof Failure) throw new ExpressionFailed(error.message);
      throw error;
    }
  };
}

/** Limits the size before a traversal: the value may contain another one many times. */
function checkSize(value: Value): void {
  const { values, characters } = deepSizeOf(value);
  if (isTooLarge({ parts: values, characters }))
    throw new ExpressionFailed('the result is larger than an object may be');
}

function merged({ schema, object }: Subject, value: Value): unknown {
  checkNames(value);
  const { kind, apiVersion } = object;
  const configuration = { ...(jsonOf(value) as object), kind, apiVersion };
  try {
    return applyConfiguration(schema, object, configuration);
  } catch (error) {
    throw new ExpressionFailed((error as Error).message);
  }
}

function checkNames(value: Value): void {
  if (!(value instanceof ObjectValue)) return;
  const wrong = wrongTypeNames(value, value.type.name);
  if (wrong.length > 0) throw new ExpressionFailed(`type mismatch: ${wrong.join('\n')}`);
}

function patched({ object }: Subject, value: Value): unknown {
  const operations = (value as readonly ObjectValue[]).map(({ fields }) => {
    if (fields.value !== undefined) checkNames(fields.value);
    return jsonOf(fields);
  });
  try {
    return applyJsonPatch(object, operations);
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    // A failed test operation means that the object must stay unchanged.
    if (error instanceof PatchTestError) return object;
    throw new ExpressionFailed(`JSON Patch: ${error.message}`);
  }
}

/**
 * Finds objects whose type name does not match their field: the type of `spec` in an `Object` is `Object.spec`. Fields
 * have no declared types, so the compiler cannot find this.
 */
function wrongTypeNames(value: Value, expected: string): string[] {
  if (value instanceof ObjectValue) {
    const { name } = value.type;
    const wrong = `unexpected type name ${JSON.stringify(name)}, expected ${JSON.stringify(expected)}, which matches field name path from root Object type`;
    const inside = Object.keys(value.fields).flatMap((field) =>
      wrongTypeNames(value.fields[field]!, `${expected}.${field}`),
    );
    return name === expected ? inside : [wrong, ...inside];
  }
  if (Array.isArray(value)) return value.flatMap((item) => wrongTypeNames(item, expected));
  if (isMap(value)) return mapKeys(value).flatMap((key) => wrongTypeNames(mapGet(value, key)!, expected));
  return [];
}

/** Converts a value. Throws a Failure when it has no JSON form. */
function jsonOf(value: Value): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number')
    return value;
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(jsonOf);
  if (value instanceof Double || value instanceof Uint) return Number(value.value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof ObjectValue) return treeOf(Object.keys(value.fields), (key) => value.fields[key]!);
  if (value instanceof Optional && value.value !== undefined) return jsonOf(value.value);
  if (isMap(value)) {
    return treeOf(mapKeys(value).map(stringKey), (key) => mapGet(value, key)!);
  }
  throw new Failure(`${typeNameOf(value)} cannot be converted to JSON`);
}

function stringKey(key: Value): string {
  if (typeof key === 'string') return key;
  throw new Failure(`map key ${String(key)} is of type ${typeNameOf(key)}, not string`);
}

function treeOf(keys: readonly string[], read: (key: string) => Value): Tree {
  const tree: Tree = {};
  for (const key of keys) put(tree, key, jsonOf(read(key)));
  return tree;
}

/** Merges a configuration into a copy of an object. Throws an Error that explains what is wrong with it. */
function applyConfiguration(schema: ObjectSchema, object: unknown, configuration: unknown): unknown {
  const wrong = checkFields(schema, configuration);
  if (wrong.length > 0) {
    throw new Error(`error applying patch: failed to convert patch object to typed object: ${errorText(wrong)}`);
  }
  const atomics = atomicsIn(schema, configuration, '');
  if (atomics.length > 0) {
    const paths = atomics.join(', ');
    throw new Error(
      `error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ${paths}`,
    );
  }
  return mergeFields(schema, object, configuration);
}

/** Returns the paths of lists, maps and structs that would be replaced as a whole, which would lose omitted fields. */
function atomicsIn(schema: AnySchema, value: unknown, path: string): string[] {
  if (!isTree(value) && !Array.isArray(value)) return [];
  const container = containerOf(schema, value);
  if (Array.isArray(value)) {
    if (container.type !== 'list') return isList(schema) ? [path] : [];
    return value.flatMap((item, index) => atomicsIn(container.schema.items, item, `${path}[${index}]`));
  }
  if (container.type !== 'map') return isStruct(schema) ? [path] : [];
  return Object.keys(value).flatMap((key) => {
    const child = schemaAt(container, key);
    return child ? atomicsIn(child, value[key], path + elementText(fieldElement(key))) : [];
  });
}

const resolved = (schema: AnySchema): Schema | undefined =>
  typeof schema === 'symbol' ? undefined : schema.type === 'lazy' ? schema.resolve() : schema;

const isList = (schema: AnySchema) => resolved(schema)?.type === 'list';

function isStruct(schema: AnySchema): boolean {
  const shape = resolved(schema);
  return shape?.type === 'object' || shape?.type === 'map';
}
