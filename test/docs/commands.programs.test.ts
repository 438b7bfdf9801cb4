/** Tests every command in the documents: each page's commands run in their order, and print what the page shows. */
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { kubectls } from '../e2e/kubectl.ts';
import { bindMissing } from '../support/federation/bind.ts';
import { documents, type Step, stepsOf, textOf, withoutComment } from './documents.ts';
import { whyUnknown } from './known-commands.ts';
import { PAGE_TIMEOUT_MS, runPage } from './shell.ts';

const kubectl = kubectls.find(({ isNewest }) => isNewest)?.program;
const curl = ['/usr/bin/curl', '/bin/curl', '/usr/local/bin/curl'].some((path) => existsSync(path));
if (!curl) console.log('skipped: the documents need curl');

/** Commands that a test cannot run, and why. Each must still be in its document; its program and flags must exist. */
const NOT_RUN: readonly { readonly document: string; readonly command: string; readonly reason: string }[] = [
  { document: 'README.md', command: 'npm test', reason: 'it runs this test' },
  ...['npm pack', 'npm install -g ./quarterdeck-*.tgz'].map((command) => {
    return { document: 'README.md', command, reason: 'test/package runs it, without network' };
  }),
  ...[
    'qd up --runtime containerd',
    'qd image build --image shop:1',
    'kubectl apply -f examples/shop',
    'kubectl -n shop wait --for=condition=available deployment --all',
    "PORT=$(kubectl -n shop get service web -o jsonpath='{.spec.ports[0].nodePort}')",
    `curl -d '{"item":"tea"}' localhost:$PORT/orders`,
    'curl localhost:$PORT/',
    'curl http://shop.localhost/',
    'kubectl apply -f examples/shop/policy',
    'curl localhost:$PORT/database',
  ].map((command) => {
    return {
      document: 'examples/shop/README.md',
      command,
      reason: 'it needs real pods: see test/e2e/services/shop.programs.test.ts',
    };
  }),
  { document: 'CONTRIBUTING.md', command: 'npm test', reason: 'it runs this test' },
  ...[
    'qd up --store etcd --etcd-servers https://etcd.example:2379 --bind-address 10.0.0.1',
    'scp ~/.quarterdeck/quarterdeck/encryption.key other:',
    'qd up --store etcd --etcd-servers https://etcd.example:2379 --bind-address 10.0.0.2 --encryption-key-file encryption.key',
  ].map((command) => ({ document: 'docs/operating.md', command, reason: 'it needs two machines and an etcd' })),
  ...stepsOf(textOf('docs/machines.md')).map(({ command }) => ({
    document: 'docs/machines.md',
    command,
    reason: 'it needs machines: see test/e2e/machines/documented.programs.test.ts',
  })),
  ...[
    'npm run bench',
    'npm run bench -- --only get,create',
    'npm run bench -- --seconds 2 --json',
    'npm run bench -- --compare HEAD~20 --only get,list,create --rounds 5',
  ].map((command) => ({ document: 'bench/README.md', command, reason: 'it measures for minutes' })),
  ...[
    'npm run attack -- --requests 100000',
    'npm run attack -- --only selector,pipelining',
    'npm run attack -- --seed 7',
  ].map((command) => ({ document: 'test/attack/README.md', command, reason: 'it attacks for minutes' })),
];

/** Pages with requirements that not every machine meets; undefined when nothing is missing. */
const NEEDS: Readonly<Record<string, () => string | undefined>> = {
  'docs/federation.md': () =>
    process.getuid?.() === 0 ? bindMissing() : 'skipped: pods that are processes need root for docs/federation.md',
};

/** Pages that do not start a cluster themselves are about one that runs. */
const SETUP: Step = { command: 'qd up --detach --runtime simulated', output: [], line: 0 };
const startsCluster = ({ command }: Step) => /^(?:npm start|qd up)\b/.test(command);

const isNotRun = (document: string, { command }: Step) =>
  NOT_RUN.some((entry) => entry.document === document && entry.command === withoutComment(command));

const pages = documents
  .map((document) => ({ document, steps: stepsOf(textOf(document)).filter((step) => !isNotRun(document, step)) }))
  .filter(({ document, steps }) => {
    const missing = NEEDS[document]?.();
    if (missing) console.log(missing);
    return steps.length > 0 && !missing;
  });

test.skipIf(!kubectl || !curl).each(pages)(
  '$document',
  async ({ steps }) => {
    const all = startsCluster(steps[0]!) ? steps : [SETUP, ...steps];
    const ran = await runPage({ steps: all, kubectl: kubectl!, runtime: 'simulated' });
    for (const { command, line, code, said, output } of ran) {
      expect(code, `line ${line}: ${command}\n${said}`).toBe(0);
      expect(missing(output, said), `line ${line}: ${command} prints what is shown, but\n${said}`).toEqual([]);
    }
  },
  2 * PAGE_TIMEOUT_MS,
);

test.each(NOT_RUN)('$document: $command is not run, because $reason', ({ document, command }) => {
  const steps = stepsOf(textOf(document)).map((step) => withoutComment(step.command));
  expect(steps).toContain(command);
  expect(whyUnknown(command)).toBeUndefined();
});

/**
 * Returns the lines of the document that the program has not printed, in their order. Parts that differ at every run
 * are not compared.
 */
function missing(output: readonly string[], said: string): string[] {
  const lines = said.split('\n').map(comparable);
  let from = 0;
  return output.filter((line) => {
    const found = lines.indexOf(comparable(line), from);
    if (found >= 0) from = found + 1;
    return found < 0;
  });
}

function comparable(line: string): string {
  return line
    .trim()
    .replace(/\s+/g, ' ')
    .replace(/\b\d+\.\d+\.\d+\.\d+\b/g, 'ADDRESS')
    .replace(/\b(?:\d+[dhms]){1,2}(?= |$)/g, 'AGE')
    .replace(/\b\d+ ?ms\b/g, 'TIME')
    .replace(/\b\d+\.\d+ s\b/g, 'TIME')
    .replace(/-[a-z0-9]{8,10}(?:-[a-z0-9]{5})?\b/g, '-HASH');
}

test('only what differs at every run is left out of the comparison', () => {
  expect(missing(['web   10.96.2.1   12s'], 'x\nweb 10.96.0.7  3m4s\n')).toEqual([]);
  expect(missing(['web   10.96.2.1   12s'], 'api 10.96.0.7  3m4s\n')).toEqual(['web   10.96.2.1   12s']);
  expect(missing(['a', 'b'], 'b\na\n')).toEqual(['b']);
});
