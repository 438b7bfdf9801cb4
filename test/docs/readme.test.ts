/** Requires that README lists the same served kinds as docs/api-coverage.md, which a test compares with the kinds. */
import { expect, test } from 'vitest';
import { textOf } from './documents.ts';

const readme = textOf('README.md').replace(/\s+/g, ' ');
const coverage = textOf('docs/api-coverage.md');

/** Names in README for the stable groups of Kubernetes that may not be served. */
const WORDS: Readonly<Record<string, string>> = {
  'admissionregistration.k8s.io': 'admission policies',
  'apiextensions.k8s.io': 'custom resource definitions',
  'apiregistration.k8s.io': 'aggregated APIs',
};

test('README counts the kinds as the coverage does', () => {
  const [, served] = /^(\d+) kinds are served/m.exec(coverage) ?? [];
  expect(served).toBeDefined();
  expect(readme).toContain(`${served} kinds of Kubernetes 1.36`);
});

test('README names the stable groups that are not served, and no others', () => {
  const [, section = ''] = /\n## What Kubernetes 1\.36 has besides\n([\s\S]*)$/.exec(coverage) ?? [];
  const missing = [...section.matchAll(/^- (\S+)\/v1:/gm)].map(([, group]) => group!);
  expect(Object.keys(WORDS)).toEqual(expect.arrayContaining(missing));
  const [, named = ''] = /Not served yet, and answered with 404: ([^.]*)\./.exec(readme) ?? [];
  for (const [group, words] of Object.entries(WORDS))
    expect(named.includes(words), words).toBe(missing.includes(group));
});
