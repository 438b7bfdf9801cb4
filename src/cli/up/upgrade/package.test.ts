import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { temporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { releaseIn } from './package.ts';

let home: string;
beforeEach(() => {
  home = temporaryDirectory();
});

test.each([
  ['is not JSON', '{'],
  ['names another package', '{"name":"other","version":"0.2.0","bin":{"qd":"qd.js"}}'],
  ['has no program', '{"name":"quarterdeck","version":"0.2.0"}'],
])('a directory whose package.json %s is rejected', async (_, text) => {
  await writeFile(join(home, 'package.json'), text);
  await expect(releaseIn(home, home)).rejects.toThrow(`${home} is not a package of Quarterdeck`);
});

test('a directory of a package has a release and a program', async () => {
  const described = { name: 'quarterdeck', version: '0.2.0', level: 2, bin: { qd: 'bin/qd.cjs' } };
  await writeFile(join(home, 'package.json'), JSON.stringify(described));
  const program = join(home, 'bin', 'qd.cjs');
  expect(await releaseIn(home, home)).toEqual({ version: '0.2.0', level: 2, program });
});

test('what is not there is named', async () => {
  await mkdir(join(home, 'empty'));
  await expect(releaseIn(join(home, 'empty'), home)).rejects.toThrow('is not a package of Quarterdeck');
  await expect(releaseIn(join(home, 'missing.tgz'), home)).rejects.toThrow('missing.tgz cannot be read');
});
