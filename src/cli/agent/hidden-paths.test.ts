import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { hiddenPaths } from './hidden-paths.ts';

it('hides the data directory, and the kubeconfig and keys that flags put elsewhere', async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'qd-hidden-')));
  const [data, kubeconfig, keys, named] = ['data', 'admin.conf', 'keys', 'named.conf'].map((name) =>
    join(folder, name),
  );
  await mkdir(data!);
  for (const file of [kubeconfig, keys, named]) await writeFile(file!, '');
  const start = { name: 'x', version: '1', pid: 1, nodes: 1, kubeconfigs: [kubeconfig] };
  await writeFile(join(data!, 'last-start.json'), JSON.stringify(start));
  await writeFile(join(data!, 'cluster.json'), JSON.stringify({ format: 1, encryptionKeyFile: keys }));
  const hidden = await hiddenPaths(data!, named);
  expect(hidden.filter((path) => path.startsWith(folder)).sort()).toEqual([data, kubeconfig, keys, named].sort());
});

it.runIf(process.getuid?.() === 0)('hides what runtimes have on this boot', async () => {
  const folder = await mkdtemp('/run/quarterdeck-hidden-');
  try {
    expect(await hiddenPaths(tmpdir(), undefined)).toContain(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
});
