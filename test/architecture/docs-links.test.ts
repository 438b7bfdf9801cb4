/** Links between the project's own documents lead somewhere, headings included. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { filesBelow, root } from './source.ts';

const ROOT_DOCUMENTS = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'];
const FOLDERS = ['docs', 'src', 'bench', 'examples', 'test'];

const documents = [...ROOT_DOCUMENTS, ...FOLDERS.flatMap((folder) => filesBelow(folder, '.md'))];

/** `[text](target)` and `![alt](target)` outside code. */
function linksOf(text: string): string[] {
  const prose = text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!);
}

/** The anchors that a renderer makes of headings. */
function anchorsOf(text: string): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replace(/ /g, '-'),
  );
}

function brokenLinks(document: string): string[] {
  return linksOf(readFileSync(join(root, document), 'utf8'))
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => {
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? join(root, document) : join(root, dirname(document), path);
      if (!existsSync(file) || relative(root, file).startsWith('..')) return true;
      return anchor !== undefined && !anchorsOf(readFileSync(file, 'utf8')).includes(anchor);
    })
    .map((target) => `${document}: ${target}`);
}

test('links lead somewhere', () => {
  expect(documents.length).toBeGreaterThan(5);
  expect(documents.flatMap(brokenLinks)).toEqual([]);
});

test('links inside code are none, and headings become anchors', () => {
  expect(linksOf('See [a](b.md#c) and `[x](y)`.\n```\n[n](o)\n```\n![p](q.svg)')).toEqual(['b.md#c', 'q.svg']);
  expect(anchorsOf('# The `qd` program\n## What, and why')).toEqual(['the-qd-program', 'what-and-why']);
});
