/** Requires that no document names a command or a flag that does not exist. */
import { expect, test } from 'vitest';
import { documents, inlineCode, stepsOf, textOf, withoutComment } from './documents.ts';
import { allFlags, whyUnknown } from './known-commands.ts';

/** Flags of programs besides qd and qdfed that the documents speak of. */
const FOREIGN_FLAGS: Readonly<Record<string, string>> = {
  '--as': 'kubectl',
  '--as-group': 'kubectl',
  '--as-uid': 'kubectl',
  '--force-conflicts': 'kubectl',
  '--watch': 'kubectl',
  '--disallow-code-generation-from-strings': 'node',
  '--max-semi-space-size': 'node',
  '--max-old-space-size': 'node',
  '--no-parallel-scavenge': 'node',
  '--no-scavenge-task': 'node',
  '--semi-space-growth-factor': 'node',
  '--cpu-prof': 'node',
  '--max-txn-ops': 'etcd',
  '--service-account-lookup': 'kube-apiserver',
  '--unsafe-no-fsync': 'etcd',
  '--compare': 'npm run bench',
};

/** Commands on pages that show how to add one: they do not exist yet. */
const EXAMPLES = new Set(['docs/extending.md: qd greet']);

test.each(documents)('%s names only commands that exist', (document) => {
  const text = textOf(document);
  const commands = [...stepsOf(text).map(({ command }) => withoutComment(command)), ...inlineCode(text)]
    .flatMap((command) => command.split(/\s*(?:[;|]|&&)\s*/))
    .filter((command) => /^(?:qd|qdfed|npm|npx|kubectl) /.test(command));
  const wrong = commands
    .filter((command) => !EXAMPLES.has(`${document}: ${command}`))
    .flatMap((command) => whyUnknown(command) ?? []);
  expect(wrong).toEqual([]);
});

test('the documents name only flags that exist', () => {
  const named = documents.flatMap((document) =>
    inlineCode(textOf(document)).flatMap((code) => {
      const flag = /^--[a-z][a-z0-9-]*/.exec(code)?.[0];
      return flag === undefined ? [] : [{ document, flag }];
    }),
  );
  expect(named.length).toBeGreaterThan(50);
  const known = allFlags();
  expect(named.filter(({ flag }) => !known.has(flag) && !(flag in FOREIGN_FLAGS))).toEqual([]);
});

test.each([
  ['qd up --port 0 --name dev', undefined],
  ['qd certs rotate authority', undefined],
  ['qd fly', 'qd has no command fly'],
  ['qd certs fly', 'qd certs has no command fly'],
  ['qd up --fly', 'qd up has no flag --fly'],
  ['qdfed init east --fly', 'qdfed init has no flag --fly'],
  ['qdfed fly', 'qdfed has no command fly'],
  ['npm start -- --fly', 'qd up has no flag --fly'],
  ['npm run fly', 'package.json has no script fly'],
  ['npm run bench -- --fly', 'npm run bench has no flag --fly'],
  ['npm run bench -- --only get', undefined],
  ['npx qd fly', 'qd has no command fly'],
])('%s', (command, problem) => {
  expect(whyUnknown(command)).toBe(problem);
});
