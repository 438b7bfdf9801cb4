/** An object of every kind, through the commands that every kind has. */
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { type Driver, withEveryKubectl } from './driver.ts';

const EXAMPLES = join(import.meta.dirname, '..', '..', '..', 'examples', 'kinds');
const examples = readdirSync(EXAMPLES).map((file) => join(EXAMPLES, file));

/** Reviews are answered and not stored; a component's status and metrics can only be read. */
const isAsked = (file: string) => file.endsWith('-review.yaml');
const OTHERS = new Set(['binding.yaml', 'component-status.yaml', 'node-metrics.yaml', 'pod-metrics.yaml']);
const isOther = (file: string) => OTHERS.has(basename(file));
const kept = examples.filter((file) => !isAsked(file) && !isOther(file));

/**
 * Kinds whose annotations a controller copies to others: a Deployment adopts the ReplicaSet with its template, and copies
 * them to the oldest one, which is the example if that was created first.
 */
const isCopied = (file: string) => basename(file) === 'deployment.yaml';
const isQuota = (file: string) => basename(file) === 'resource-quota.yaml';
const copied = kept.filter(isCopied);
const notCopied = kept.filter((file) => !isCopied(file));

/** Namespace of objects that some of the examples refer to. */
const HERE = '--namespace=default';
const from = (files: readonly string[]) => [...files.flatMap((file) => ['-f', file]), HERE];

/** Kinds that kubectl 1.20 describes through versions which have been removed since; a 1.36 server has none of them. */
const NOT_DESCRIBED = new Set(['endpoint-slice.yaml']);
/** Kinds that it describes through versions that are served and deprecated. */
const WARNED = new Set(['cron-job.yaml', 'pod-disruption-budget.yaml']);

/** kubectl 1.20 sends ten requests at once and then five a second: several of it get on faster than one. */
const CONCURRENT_KINDS = 13;

async function lines(kubectl: Driver, files: readonly string[], command: readonly string[]): Promise<string[]> {
  const runs: Promise<string[]>[] = [];
  const size = kubectl.isNewest ? files.length : CONCURRENT_KINDS;
  for (let at = 0; at < files.length; at += size) {
    runs.push(kubectl.lines(...command, ...from(files.slice(at, at + size))));
  }
  return (await Promise.all(runs)).flat().filter(Boolean);
}

withEveryKubectl((kubectl) => {
  const all = (...command: string[]) => lines(kubectl, kept, command);

  test('create, and nothing to be applied then', async () => {
    // A pod without resources is not created beside a quota of them.
    const before = await lines(
      kubectl,
      kept.filter((file) => !isQuota(file)),
      ['create', '--save-config'],
    );
    const created = [...before, ...(await lines(kubectl, kept.filter(isQuota), ['create', '--save-config']))];
    expect(created).toEqual(kept.map(() => expect.stringMatching(/^\S+ created$/)));
    // kubectl prints "configured" for lists that are replaced as a whole and hold defaults.
    expect(await all('apply')).toEqual(kept.map(() => expect.stringMatching(/^\S+ (unchanged|configured)$/)));
  });

  if (kubectl.isNewest) {
    test('diff shows nothing of what was created', async () => {
      expect(await all('diff')).toEqual([]);
    });
  }

  test('get, in every form', async () => {
    for (const form of [
      ['-o', 'name'],
      ['--no-headers', '-o', 'wide'],
    ]) {
      expect(await all('get', ...form)).toHaveLength(kept.length);
    }
    const { items } = JSON.parse(await kubectl.run('get', ...from(kept.slice(0, 5)), '-o', 'json'));
    const kinds = items.map(({ kind }: { kind: string }) => kind).join(' ');
    expect(await kubectl.run('get', ...from(kept.slice(0, 5)), '-o', 'jsonpath={.items[*].kind}')).toBe(kinds);
  });

  test('describe', async () => {
    const shown = kept.filter((file) => kubectl.isNewest || !NOT_DESCRIBED.has(basename(file)));
    const quiet = shown.filter((file) => kubectl.isNewest || !WARNED.has(basename(file)));
    const text = await lines(kubectl, quiet, ['describe']);
    expect(text.filter((line) => line.startsWith('Name: ')).length).toBeGreaterThanOrEqual(quiet.length);
    const warned = shown.filter((file) => !quiet.includes(file));
    if (warned.length === 0) return;
    const { code, stderr } = await kubectl.outcome('describe', ...from(warned));
    expect([code, stderr.match(/^Warning: .* is deprecated/gm)?.length]).toEqual([0, warned.length]);
  });

  test('label and annotate', async () => {
    await all('label', 'tier=back');
    // kubectl does not overwrite an annotation, so nothing may be copied to objects that are yet to be annotated.
    for (const files of [notCopied, copied]) await lines(kubectl, files, ['annotate', 'note=here']);
    const columns = 'custom-columns=A:.metadata.labels.tier,B:.metadata.annotations.note';
    expect(await all('get', '--no-headers', '-o', columns)).toEqual(kept.map(() => 'back here'));
  });

  test('reviews and bindings', async () => {
    for (const file of examples.filter(isAsked)) {
      const { kind } = JSON.parse(await kubectl.run('create', '-f', file, HERE, '-o', 'json'));
      expect(`${kind.toLowerCase()}.yaml`).toBe(basename(file).replaceAll('-', ''));
    }
    expect(await kubectl.run('create', '-f', join(EXAMPLES, 'binding.yaml'), HERE)).toMatch(/created$/);
    expect(await kubectl.run('get', 'pod', 'example', HERE, '-o', 'jsonpath={.spec.nodeName}')).toBe('example');
  });

  test('delete', async () => {
    // No node is there to terminate it.
    await kubectl.outcome('delete', 'pod', 'example', HERE, '--force', '--grace-period=0');
    // kubectl that waits for each object asks five times a second at most.
    const { code, stderr } = await kubectl.outcome('delete', ...from(kept), '--wait=false', '--ignore-not-found');
    expect([code, stderr.trim()]).toEqual([0, expect.stringMatching(/^warning: deleting cluster-scoped resources/i)]);
    // A namespace is removed once it has been emptied, a volume once no pod uses it, and a range of addresses after ten seconds.
    const left = async () =>
      (await kubectl.run('get', ...from(kept), '--ignore-not-found', '-o', 'name')).split('\n').filter(Boolean);
    for (let names = await left(); names.length > 0; names = await left()) {
      // It fails when one of them is gone already.
      await kubectl.outcome('wait', '--for=delete', ...names, HERE, '--timeout=30s');
    }
  });
});
