/** Reads the project's own sources for the tests of this folder, which check rules of the design over all of them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

export const root = join(import.meta.dirname, '..', '..');

export interface Source {
  /** Path from the project's folder, such as `src/store/store.ts`. */
  readonly path: string;
  /** Code without comments and the content of strings, except in import statements. */
  readonly code: string;
  /** Imported, exported and later loaded modules, as written. */
  readonly imports: readonly string[];
}

export function sourcesBelow(folder: string): Source[] {
  return filesBelow(folder, '.ts').map((path) => ({ path, ...analyse(readFileSync(join(root, path), 'utf8')) }));
}

export function isTest(path: string): boolean {
  return path.endsWith('.test.ts');
}

/** Paths from the project's folder, sorted. */
export function filesBelow(folder: string, ending: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}

// Each alternative is a kind of token, in the order in which they hide each other. Template literals keep their
// content: code inside `${}` counts.
const TOKENS = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g;
const IMPORTS = /\b(?:from|import)\s*\(?\s*'([^']*)'/g;

export function analyse(text: string): { code: string; imports: string[] } {
  const withoutComments = text.replace(TOKENS, (token) => (token.startsWith('/') ? ' ' : token.replace(/\n/g, ' ')));
  const imports = [...withoutComments.matchAll(IMPORTS)].map(([, target]) => target!);
  const code = withoutComments.replace(TOKENS, (token) => (token.startsWith('`') ? token : "''"));
  return { code, imports };
}
