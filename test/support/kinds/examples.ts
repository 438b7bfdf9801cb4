/** The example of each kind under examples/kinds, which many tests create, read and change. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Kind } from '../../../src/kinds/kind.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** `examples/kinds/pod-disruption-budget.yaml`. */
export function examplePath({ kind }: Pick<Kind, 'kind'>): string {
  const words = kind.replace(/([a-z0-9])([A-Z])/g, '$1-$2').replace(/([A-Z]+)([A-Z][a-z])/g, '$1-$2');
  return `examples/kinds/${words.toLowerCase()}.yaml`;
}

/** By their paths: some tests need thousands of copies, and parsing is the most expensive part of one. */
const parsed = new Map<string, object>();

/** A fresh copy of the kind's example. */
export function exampleOf(kind: Pick<Kind, 'kind' | 'hub'>): any {
  const path = examplePath(kind);
  const example = parsed.get(path) ?? readExample(kind, path);
  parsed.set(path, example);
  return structuredClone(example);
}

function readExample(kind: Pick<Kind, 'kind' | 'hub'>, path: string): object {
  if (!existsSync(join(ROOT, path))) {
    throw new Error(
      `${path} is missing: write an object of kind ${kind.kind} (${kind.hub.apiVersion}) there, with the fields that such an object usually has`,
    );
  }
  const object = parse(readFileSync(join(ROOT, path), 'utf8'), { version: '1.1' });
  if (object.kind !== kind.kind)
    throw new Error(`${path} holds a ${object.kind}: write an object of kind ${kind.kind}`);
  return object;
}
