/**
 * Tests the Node releases that `engines` allows: on each, the suites that check the assumptions of
 * `src/server/serving/http/node-internals.ts` about Node, and the built program over every protocol that it speaks.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { connect } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import packageJson from '../../package.json' with { type: 'json' };
import { type Qd, startQd, take } from '../e2e/program.ts';
import { withAllReleases } from '../support/all-releases.ts';
import { newestMajor, nodeReleases, oldestMajor } from './releases.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const VITEST = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs');
/** The suite of the assumptions themselves. */
const INTERNALS = 'src/server/serving/http/node-internals.isolated.test.ts';
/** The suites of everything that is built on them. */
const SERVING = ['src/server/serving/http/server.test.ts', 'src/server/serving/http/listen'];
const TESTING = pathToFileURL(join(ROOT, 'dist', 'testing.js')).href;
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';

test('the oldest release is the one that package.json names', () => {
  expect(packageJson.engines.node).toBe(`>=${oldestMajor}`);
});

/** The build was made by the Node that runs this file, and has the code for it. */
const otherReleases = nodeReleases.filter(({ program }) => program !== process.execPath);

test.each(otherReleases)('Node $major takes the code that an earlier process compiled', async ({ program }) => {
  const cache = await mkdtemp(join(tmpdir(), 'qd-code-'));
  try {
    const run = async () => {
      const text = `const { Cluster } = await import(${JSON.stringify(TESTING)}); await (await Cluster.start()).stop();`;
      await promisify(execFile)(program, ['--input-type=module', '-e', text], {
        env: { ...process.env, XDG_CACHE_HOME: cache },
      });
      const [file, ...others] = await readdir(join(cache, 'quarterdeck'));
      expect(others).toEqual([]);
      return (await stat(join(cache, 'quarterdeck', file!))).mtimeMs;
    };
    const first = await run();
    // It would be written again if V8 did not take it.
    expect(await run()).toBe(first);
  } finally {
    await rm(cache, { recursive: true });
  }
});

describe.each(nodeReleases)('Node $major', ({ major, program }) => {
  // Releases between the oldest and the newest run the short list.
  const suites = withAllReleases || [oldestMajor, newestMajor].includes(major) ? [INTERNALS, ...SERVING] : [INTERNALS];

  // The Node that runs this file has run these suites already.
  test.skipIf(program === process.execPath)('behaves as node-internals.ts assumes', { timeout: 300_000 }, async () => {
    const run = promisify(execFile)(program, [VITEST, 'run', ...suites], { cwd: ROOT, maxBuffer: 64 * 1024 * 1024 });
    const { stdout } = await run.catch((error: { stdout: string }) => error);
    expect(stdout).not.toMatch(/FAIL|failed/);
    expect(stdout).toMatch(/Test Files .* passed/);
  });

  describe('the built program', () => {
    let qd: Qd;
    let credentials: { ca: string; cert: string; key: string };
    beforeAll(async () => {
      qd = await startQd({ node: program });
      const read = (name: string) => readFile(join(qd.directory, 'data', 'pki', name), 'utf8');
      credentials = { ca: await read('ca.crt'), cert: await read('admin.crt'), key: await read('admin.key') };
    });
    afterAll(() => qd.stop('SIGKILL'));

    test('answers over HTTP/1, and watches', async () => {
      const watch = await qd.watch(`${CONFIG_MAPS}?watch=true&fieldSelector=metadata.name=a`);
      const { code } = await qd.request('POST', CONFIG_MAPS, { body: { metadata: { name: 'a' }, data: { x: 'y' } } });
      expect(code).toBe(200);
      const { body } = await qd.request('GET', `${CONFIG_MAPS}/a`);
      expect(body.data).toEqual({ x: 'y' });
      const [event] = await take(watch, 1);
      expect([event.type, event.object.metadata.name]).toEqual(['ADDED', 'a']);
    });

    test('answers over HTTP/2', async () => {
      const session = connect(qd.origin, credentials);
      const stream = session.request({ ':path': '/version' });
      const [headers] = await once(stream, 'response');
      expect(headers[':status']).toBe(200);
      const [text] = await once(stream.setEncoding('utf8'), 'data');
      expect(JSON.parse(text).gitVersion).toContain('+quarterdeck');
      session.close();
    });

    test('watches over a WebSocket', async () => {
      const socket = new WebSocket(`${qd.origin.replace('https', 'wss')}/api/v1/namespaces?watch=true`, credentials);
      const [message] = await once(socket, 'message');
      expect(JSON.parse(String(message)).type).toBe('ADDED');
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    });

    test('stops cleanly on SIGTERM', async () => {
      expect(await qd.stop('SIGTERM')).toBe(0);
    });
  });
});
