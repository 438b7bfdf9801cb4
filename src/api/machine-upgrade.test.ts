import { expect, test } from 'vitest';
import { answerUpgrade, MAX_PART_BYTES, type UpgradePort } from './machine-upgrade.ts';

const SHA = 'a'.repeat(64);

function setup() {
  const calls: unknown[] = [];
  const report = { version: '0.1.0', accepts: 'yes' as const };
  const port: UpgradePort = {
    report: async () => report,
    receive: async ({ sha256, offset, content }) => void calls.push([sha256, offset, content.toString()]),
    start: async (sha256) => void calls.push(sha256),
  };
  const ask = (method: string, target: string, body = Buffer.from('part')) => {
    const [path = '', search = ''] = target.split('?');
    return answerUpgrade({ method, path, query: new URLSearchParams(search), body: async () => body }, port);
  };
  return { calls, report, ask };
}

test('a machine says what it runs, takes parts of a package, and starts the upgrade to it', async () => {
  const { calls, report, ask } = setup();
  expect(await ask('GET', '/upgrade')).toBe(report);
  expect(await ask('PUT', `/upgrade/${SHA}?offset=4`)).toEqual({ received: 8 });
  expect(await ask('POST', `/upgrade/${SHA}`)).toBe(report);
  expect(calls).toEqual([[SHA, 4, 'part'], SHA]);
});

test.each([
  ['POST', '/upgrade', 'MethodNotAllowed'],
  ['GET', `/upgrade/${SHA}`, 'MethodNotAllowed'],
  ['DELETE', `/upgrade/${SHA}`, 'MethodNotAllowed'],
  ['PUT', '/upgrade/..%2fpackage?offset=0', 'NotFound'],
  ['PUT', `/upgrade/${SHA}/more?offset=0`, 'NotFound'],
  ['POST', `/upgrade/${SHA.toUpperCase()}`, 'NotFound'],
  ['PUT', `/upgrade/${SHA}`, 'BadRequest'],
  ['PUT', `/upgrade/${SHA}?offset=-1`, 'BadRequest'],
  ['PUT', `/upgrade/${SHA}?offset=1e3`, 'BadRequest'],
])('%s %s is rejected: %s', async (method, target, reason) => {
  const { calls, ask } = setup();
  await expect(ask(method, target)).rejects.toMatchObject({ reason });
  expect(calls).toEqual([]);
});

test('a part that is too large is rejected', async () => {
  const { calls, ask } = setup();
  const body = Buffer.alloc(MAX_PART_BYTES + 1);
  await expect(ask('PUT', `/upgrade/${SHA}?offset=0`, body)).rejects.toMatchObject({ code: 413 });
  expect(calls).toEqual([]);
});
