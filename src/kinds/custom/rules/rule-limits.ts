import { isTree } from '../../../base/json/tree.ts';
import type { JsonSchema } from '../../../json-schema/json-schema.ts';
import { type FieldError, forbidden } from '../../../schema/field-error.ts';
import { hasRules } from './has-rules.ts';

/** Rules are compiled while others wait: all versions of a definition together have no more of them. */
const MAX_RULES = 1_000;
const MAX_EXPRESSION_CHARACTERS = 50_000;

/** Checks the number and length of the rules in all schemas of a definition. */
export function ruleLimitErrors(schemas: readonly JsonSchema[], path: string): FieldError[] {
  const total = { rules: 0, characters: 0 };
  for (const schema of schemas) count(schema, total);
  const found: FieldError[] = [];
  if (total.rules > MAX_RULES) {
    found.push(forbidden(path, `x-kubernetes-validations must have at most ${MAX_RULES} rules in all versions`));
  }
  if (total.characters > MAX_EXPRESSION_CHARACTERS) {
    const detail = `x-kubernetes-validations must have at most ${MAX_EXPRESSION_CHARACTERS} characters of expressions in all versions`;
    found.push(forbidden(path, detail));
  }
  return found;
}

function count(schema: JsonSchema, total: { rules: number; characters: number }): void {
  if (!hasRules(schema)) return;
  for (const { rule = '', messageExpression = '' } of schema['x-kubernetes-validations'] ?? []) {
    total.rules++;
    total.characters += rule.length + messageExpression.length;
  }
  const { properties = {}, items, additionalProperties } = schema;
  for (const each of [...Object.values(properties), items, additionalProperties]) {
    if (isTree(each)) count(each as JsonSchema, total);
  }
}
