/** Finds shapes and fields, at any depth, that `kubectl explain` would show without a useful description. */
import type { ObjectSchema } from '../../src/schema/schema.ts';
import { objectIn } from '../../src/server/serving/openapi/definitions.ts';

const MIN_CHARACTERS = 12;

/** Sentences that fit any field and explain none. */
const EMPTY_PHRASES = new Set([
  'what is wanted.',
  'what there is.',
  'what is known.',
  'the desired state.',
  'the observed state.',
  'the current state.',
]);

/**
 * The shapes and fields below `shape` whose description is missing or says nothing, each as `PodSpec.containers` with the
 * path that leads there and the problem.
 */
export function poorDescriptions(shape: ObjectSchema, path: string, seen = new Set<unknown>()): string[] {
  if (seen.has(shape.fields)) return [];
  seen.add(shape.fields);
  const found: string[] = [];
  const own = problemOf(shape.shapeDescription ?? shape.description, shape.name);
  if (own) found.push(`${shape.name} ${own} (${path})`);
  for (const [name, field] of Object.entries(shape.fields)) {
    const inner = objectIn(field);
    const problem = problemOf(field.description ?? (field.type === 'lazy' ? inner?.description : undefined), name);
    if (problem) found.push(`${shape.name}.${name} ${problem} (${path}.${name})`);
    if (inner) found.push(...poorDescriptions(inner, `${path}.${name}`, seen));
  }
  return found;
}

function problemOf(description: string | undefined, name: string): string | undefined {
  if (!description) return 'has no description';
  const plain = description.toLowerCase();
  if (plain.replace(/[^a-z0-9]/g, '') === name.toLowerCase()) return 'only repeats the name';
  if (EMPTY_PHRASES.has(plain)) return 'says nothing';
  if (description.length < MIN_CHARACTERS) return `is shorter than ${MIN_CHARACTERS} characters`;
  if (!description.endsWith('.')) return 'is not a sentence';
  return undefined;
}
