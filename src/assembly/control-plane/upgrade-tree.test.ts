import { expect, test } from 'vitest';
import type { UpgradePort } from '../../api/machine-upgrade.ts';
import { upgradeTree } from './upgrade-tree.ts';

const started: string[] = [];
const port: UpgradePort = {
  report: async () => ({ version: '0.1.0', accepts: 'yes' }),
  receive: async () => undefined,
  start: async (sha256) => void started.push(sha256),
};
const ask = (name: string) =>
  upgradeTree(port).answer({
    user: { name, groups: ['system:masters'] },
    method: 'POST',
    path: `/upgrade/${'a'.repeat(64)}`,
    query: new URLSearchParams(),
    body: async () => Buffer.alloc(0),
  });

test('users who have authenticated may upgrade a server, if they may use the path', async () => {
  expect(await ask('admin')).toEqual({ version: '0.1.0', accepts: 'yes' });
  expect(started).toEqual(['a'.repeat(64)]);
});

test.each(['system:anonymous', 'system:unsecured'])('%s may not, whatever the authorizer says', async (name) => {
  started.length = 0;
  await expect(ask(name)).rejects.toMatchObject({ reason: 'Forbidden' });
  expect(started).toEqual([]);
});
