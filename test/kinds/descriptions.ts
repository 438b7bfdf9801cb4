/** Finds what `kubectl explain` would show without a useful description: shapes and fields, in every served version. */
import type { Kind } from '../../src/kinds/kind.ts';
import type { ObjectSchema } from '../../src/schema/schema.ts';
import { objectIn } from '../../src/server/openapi/definitions.ts';

export interface PoorDescription {
  /** The shape and its field, such as `PodSpec.containers`; the shape alone for its own description. */
  readonly subject: string;
  /** A path from the kind that leads there, for whoever looks with `kubectl explain`. */
  readonly path: string;
  readonly problem: string;
}

const MIN_CHARACTERS = 12;

/** Sentences that fit any field and explain none. */
const EMPTY_PHRASES = new Set([
  'what is wanted.',
  'what is known.',
  'what is known about it.',
  'its current state.',
  'the desired state.',
  'the observed state.',
  'see above.',
]);

export function poorDescriptions(kinds: readonly Kind[]): PoorDescription[] {
  const found = new Map<string, PoorDescription>();
  for (const kind of kinds) {
    for (const version of kind.versions) {
      const start = [version.group, version.version, kind.kind].filter(Boolean).join('/');
      walk(version.schema, start, new Set(), (subject, path, problem) => {
        const key = `${subject} ${problem}`;
        if (!found.has(key)) found.set(key, { subject, path, problem });
      });
    }
  }
  return [...found.values()];
}

type Report = (subject: string, path: string, problem: string) => void;

function walk(shape: ObjectSchema, path: string, seen: Set<unknown>, report: Report): void {
  if (seen.has(shape.fields)) return;
  seen.add(shape.fields);
  const own = problemOf(shape.shapeDescription ?? shape.description, shape.name);
  if (own) report(shape.name, path, own);
  for (const [name, field] of Object.entries(shape.fields)) {
    const inner = objectIn(field);
    const problem = problemOf(field.description ?? (field.type === 'lazy' ? inner?.description : undefined), name);
    if (problem) report(`${shape.name}.${name}`, `${path}.${name}`, problem);
    if (inner) walk(inner, `${path}.${name}`, seen, report);
  }
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
