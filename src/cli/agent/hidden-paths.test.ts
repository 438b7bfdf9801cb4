import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { hiddenPaths } from './hidden-paths.ts';

it('hides the data directory, and the kubeconfig, keys and backups that flags put elsewhere', async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'qd-hidden-')));
  const names = ['data', 'admin.conf', 'keys', 'named.conf', 'backups', 'passphrase'];
  const [data, kubeconfig, keys, named, backupTo, backupPassphraseFile] = names.map((name) => join(folder, name));
  await mkdir(data!);
  for (const file of [kubeconfig, keys, named, backupTo, backupPassphraseFile]) await writeFile(file!, '');
  const start = { name: 'x', version: '1', pid: 1, nodes: 1, kubeconfigs: [kubeconfig] };
  await writeFile(join(data!, 'last-start.json'), JSON.stringify(start));
  const settings = { format: 1, encryptionKeyFile: keys, backupTo, backupPassphraseFile };
  await writeFile(join(data!, 'cluster.json'), JSON.stringify(settings));
  const hidden = await hiddenPaths(data!, named);
  expect(hidden.filter((path) => path.startsWith(folder)).sort()).toEqual(
    names.map((name) => join(folder, name)).sort(),
  );
});

it.runIf(process.getuid?.() === 0)('hides what runtimes have on this boot', async () => {
  const folder = await mkdtemp('/run/quarterdeck-hidden-');
  try {
    expect(await hiddenPaths(tmpdir(), undefined)).toContain(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
});
