/**
 * Tests which modules a process has loaded when its first test cluster has answered: the network and cryptography cost
 * several milliseconds each, and few tests use them.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const PACKAGE = pathToFileURL(join(import.meta.dirname, '..', '..', '..', 'dist', 'testing.js'));
const PROGRAM = `
  const { Cluster } = await import(${JSON.stringify(PACKAGE)});
  const cluster = await Cluster.start({ seed: 1 });
  await cluster.get('node/node-1');
  // Standard output loads modules, too.
  const loaded = JSON.stringify(process.moduleLoadList);
  process.stdout.write(loaded);
  process.exit();
`;

test('a test cluster that is not served loads no modules of the network, and none that sign', async () => {
  const args = ['--input-type=module', '--eval', PROGRAM];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const loaded = new Set(JSON.parse(stdout) as string[]);
  expect(loaded).toContain('NativeModule zlib');
  const seldom = ['http', 'https', 'http2', 'tls', 'worker_threads', 'crypto'];
  expect(seldom.filter((name) => loaded.has(`NativeModule ${name}`))).toEqual([]);
});
