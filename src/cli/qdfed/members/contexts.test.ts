import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { withResolvers } from '../../../base/event-loop/with-resolvers.ts';
import { type Clock, ControlledClock } from '../../../base/time/clock.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { find } from '../steps/ensure.ts';
import { loadContexts, releaseOf } from './contexts.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Opens the context `west`, whose server answers everything in one way. */
async function open(answer: (response: ServerResponse) => void, clock?: Clock) {
  const server = createServer((_, response) => answer(response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const directory = mkdtempSync(join(tmpdir(), 'qd-contexts-'));
  const file = join(directory, 'config');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  writeFileSync(
    file,
    JSON.stringify({
      clusters: [{ name: 'west', cluster: { server: url } }],
      users: [{ name: 'west', user: { token: 't' } }],
      contexts: [{ name: 'west', context: { cluster: 'west', user: 'west' } }],
    }),
  );
  const contexts = await loadContexts(file, clock);
  cleanups.push(
    () => rmSync(directory, { recursive: true }),
    () => server.close(),
    () => server.closeAllConnections(),
    () => contexts.close(),
  );
  return contexts.open('west', '--cluster-context');
}

const endless = (response: ServerResponse) => {
  if (!response.destroyed) response.write(' '.repeat(1_000_000), () => endless(response));
};

it('a cluster without TLS has a release', async () => {
  const release = { major: '1', minor: '36', gitVersion: 'v1.36.4' };
  const west = await open((response) => response.end(JSON.stringify({ ...release, platform: 'linux/amd64' })));
  expect(await releaseOf(west)).toEqual(release);
});

it.each<[string, (response: ServerResponse) => void]>([
  ['null', (response) => response.end('null')],
  ['a number', (response) => response.end('5')],
  ['an empty object', (response) => response.end('{}')],
  ['other types', (response) => response.end('{"major":1,"minor":{},"gitVersion":null}')],
  ['a page', (response) => response.end('<html>Sign in</html>')],
  ['a redirection', (response) => response.writeHead(302, { location: '/' }).end()],
  ['no end', endless],
  [
    'half of an answer',
    (response) => response.writeHead(200, { 'content-length': '9' }).write('{', () => response.destroy()),
  ],
])('a cluster whose release is %s does not answer', async (_, answer) => {
  const west = await open(answer);
  await expect(releaseOf(west)).rejects.toThrow(
    `the cluster of context "west" does not answer at ${west.connection.server}: `,
  );
});

it.each<[string, (response: ServerResponse) => void]>([
  ['a page', (response) => response.end('<html>Sign in</html>')],
  ['an object without metadata', (response) => response.end('{}')],
  ['a list', (response) => response.end('[]')],
  ['an object with other types', (response) => response.end('{"metadata":{"annotations":5}}')],
  ['a Status', (response) => response.end('{"kind":"Status","status":"Success"}')],
  ['a failure as a success', (response) => response.end('{"kind":"Status","status":"Failure","message":"no way"}')],
  ['a failure', (response) => response.writeHead(403).end('{"kind":"Status","message":{},"details":{"causes":5}}')],
  ['a cut connection', (response) => response.destroy()],
  ['no end', endless],
])('errors name the cluster: %s', async (_, answer) => {
  const west = await open(answer);
  const error: Error = await find(west.client, Namespace, 'a').then(
    () => new Error('no error'),
    (each) => each,
  );
  expect(error.message).toMatch(/^the cluster of context "west": [\w.:]+ /);
  expect(error.message.length).toBeLessThan(300);
});

it('credentials that cannot be used are those of a context', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'qd-contexts-'));
  cleanups.push(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'config');
  writeFileSync(
    file,
    JSON.stringify({
      clusters: [{ name: 'a', cluster: { server: 'https://127.0.0.1:1' } }],
      users: [
        { name: 'u', user: { tokenFile: 'none' } },
        { name: 'v', user: { exec: { command: 'sleep' } } },
      ],
      contexts: [
        { name: 'west', context: { cluster: 'a', user: 'u' } },
        { name: 'east', context: { cluster: 'a', user: 'v' } },
      ],
    }),
  );
  const contexts = await loadContexts(file);
  await expect(contexts.open('west', '--cluster-context')).rejects.toThrow(
    `the context "west" cannot be used: cannot read tokenFile ${join(directory, 'none')}: it does not exist`,
  );
  await expect(contexts.open('east', '--cluster-context')).rejects.toThrow(
    'the context "east" cannot be used: user "v" uses "exec", which is not supported',
  );
});

it('a cluster that accepts connections and answers nothing is given up soon', async () => {
  const clock = new ControlledClock();
  const { promise: asked, resolve: arrived } = withResolvers<void>();
  const west = await open(() => arrived(), clock);
  const found = find(west.client, Namespace, 'a').catch((error: Error) => error.message);
  await asked;
  await clock.advance(10_000);
  expect(await found).toMatch(/^the cluster of context "west": 127\.0\.0\.1:\d+ did not answer within 10 s$/);
});
