/** An etcd that speaks TLS and asks for certificates, as etcd is run for real. */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { etcdMissing, TestEtcd } from '../support/etcd.ts';
import { testAuthority } from '../support/tls.ts';
import { newDirectory, runQd, startQd } from './program.ts';

const missing = etcdMissing();
const why = missing ? ` (${missing})` : '';
/** Programs are started, which takes long on a busy machine. */
const OPTIONS = { timeout: 60_000 };

let directory: string;
let etcd: TestEtcd;
let files: Record<'ca' | 'cert' | 'key', string>;

beforeEach(async () => {
  if (missing) return;
  directory = await newDirectory();
  await mkdir(join(directory, 'etcd'));
  const authority = await testAuthority('etcd-ca');
  const [server, client] = [await authority.server(), await authority.client('qd')];
  const keep = async (name: string, content: string) => {
    const file = join(directory, 'etcd', name);
    await writeFile(file, content);
    return file;
  };
  files = {
    ca: await keep('ca.crt', authority.ca),
    cert: await keep('client.crt', client.cert),
    key: await keep('client.key', client.key),
  };
  etcd = await TestEtcd.start({
    flags: [
      `--cert-file=${await keep('server.crt', server.cert)}`,
      `--key-file=${await keep('server.key', server.key)}`,
      `--trusted-ca-file=${files.ca}`,
      '--client-cert-auth',
    ],
  });
});

afterEach(async () => {
  if (missing) return;
  await etcd.remove();
  await rm(directory, { recursive: true, force: true });
});

test.skipIf(missing)(`is a store like any other, and remembered${why}`, OPTIONS, async () => {
  const { ca, cert, key } = files;
  const tls = ['--etcd-cafile', ca, '--etcd-certfile', cert, '--etcd-keyfile', key];
  const first = await startQd({ directory, flags: ['--store', 'etcd', '--etcd-servers', etcd.endpoint, ...tls] });
  const maps = '/api/v1/namespaces/default/configmaps';
  expect((await first.request('POST', maps, { body: { metadata: { name: 'kept' } } })).code).toBe(200);
  expect(await first.stop()).toBe(0);
  const second = await startQd({ directory });
  expect((await second.request('GET', `${maps}/kept`)).code).toBe(200);
  expect(await second.stop()).toBe(0);
});

test.skipIf(missing)(`rejects clients without a certificate${why}`, OPTIONS, async () => {
  const where = ['--data-dir', join(directory, 'other'), '--port', '0', '--kubeconfig', join(directory, 'config')];
  const flags = ['--store', 'etcd', '--etcd-servers', etcd.endpoint];
  const stranger = await runQd(['up', ...where, ...flags, '--etcd-cafile', files.ca]);
  expect(stranger.code).toBe(1);
  expect(stranger.stderr).toContain('etcd');
  const lost = await runQd(['up', ...where, ...flags, '--etcd-cafile', join(directory, 'nothing')]);
  expect(lost.code).toBe(1);
  expect(lost.stderr).toMatch(/^qd: --etcd-cafile .*nothing cannot be read/m);
});
