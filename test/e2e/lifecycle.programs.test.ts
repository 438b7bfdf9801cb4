/** Tests starting, stopping and resuming: what users see of it, and what survives. */
import { once } from 'node:events';
import { chmod, cp, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { get } from 'node:https';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { etcdMissing, TestEtcd } from '../support/etcd.ts';
import { freePort } from '../support/free-port.ts';
import { newDirectory, type Qd, runQd, runUntilReady, spawnProgram, startQd, take } from './program.ts';

const missing = etcdMissing();
if (missing) console.log(`skipped: ${missing}`);

const MAPS = '/api/v1/namespaces/default/configmaps';
const map = (name: string) => ({ body: { metadata: { name }, data: { n: name } } });

let directory: string;
const running: Qd[] = [];
const start = async (flags: readonly string[] = [], env: NodeJS.ProcessEnv = {}) => {
  const qd = await startQd({ directory, flags, env });
  running.push(qd);
  return qd;
};
const up = (...flags: string[]) => [
  ...['up', '--data-dir', join(directory, 'data'), '--kubeconfig', join(directory, 'kubeconfig')],
  ...flags,
];

/** Expects an error of one line, with code 1. */
async function expectLine(args: readonly string[], line: RegExp, options?: Parameters<typeof runQd>[1]) {
  const { code, stderr } = await runQd([...args, '--log-level', 'error'], options);
  expect(stderr).toMatch(/^qd: [^\n]+\n$/);
  expect(stderr).toMatch(line);
  expect(code).toBe(1);
}

async function prepare(): Promise<void> {
  directory = await newDirectory();
}

async function cleanUp(): Promise<void> {
  await Promise.all(running.splice(0).map((qd) => qd.stop('SIGKILL')));
  await rm(directory, { recursive: true, force: true });
}

describe('a running cluster', () => {
  let qd: Qd;
  beforeAll(async () => {
    await prepare();
    qd = await start();
  });
  afterAll(cleanUp);

  test('has printed its steps and what to do next', () => {
    const said = qd.output();
    for (const step of ['directory', 'certificates', 'store', 'API', 'HTTPS', 'controllers', 'kubeconfig']) {
      expect(said).toMatch(new RegExp(`^${step} .*\\(\\d+ ms\\)$`, 'm'));
    }
    expect(said).toMatch(/^Ready in \d+\.\d\d s: https:\/\/127\.0\.0\.1:\d+$/m);
    expect(said).toContain(`kubectl --kubeconfig ${qd.kubeconfig} get namespaces`);
  });

  test('has keys and data that only their owner can read', async () => {
    for (const path of ['data', 'data/pki', 'data/pki/ca.key', 'data/cluster.json', 'kubeconfig']) {
      expect((await stat(join(directory, path))).mode & 0o077, path).toBe(0);
    }
  });

  test('opens no debugger for a signal', async () => {
    qd.child.kill('SIGUSR1');
    await expect.poll(() => qd.output()).toContain('there is no debugger to open');
    expect(qd.output()).not.toContain('Debugger listening');
    expect((await qd.request('GET', '/readyz')).code).toBe(200);
  });

  test('goes on when another start wants its directory, which is an error of one line', async () => {
    await expectLine(up('--port', '0'), new RegExp(`is in use by process ${qd.child.pid}`));
    expect((await qd.request('GET', MAPS)).code).toBe(200);
  });
});

describe('a start or a stop', () => {
  beforeEach(prepare);
  afterEach(cleanUp);

  test.each(['SIGTERM', 'SIGINT'] as const)('%s stops it with code 0, open watches included', async (signal) => {
    const qd = await start();
    const events = await qd.watch(`${MAPS}?watch=true&resourceVersion=0`);
    const seen = (async () => {
      let count = 0;
      for await (const _ of events) count++;
      return count;
    })();
    expect(await qd.stop(signal)).toBe(0);
    await seen; // The stream ended cleanly: an aborted one would have thrown.
    expect(qd.output()).toContain('Stopped.');
  });

  test('a stop ends the process, whatever keeps it alive', async () => {
    // Stands in for a forgotten connection.
    const env = { NODE_OPTIONS: '--import=data:text/javascript,setInterval(()=>{},1000)' };
    const qd = await start(['--log-level', 'warn'], env);
    expect(await qd.stop('SIGTERM')).toBe(0);
    expect(qd.output()).toContain('ended what was left after the stop');
  });

  test('a second start on the same directory continues the cluster', async () => {
    const first = await start();
    expect((await first.request('POST', MAPS, map('one'))).code).toBe(200);
    // A controller writes it into every namespace.
    await first.until(MAPS, ({ metadata }) => metadata.name === 'kube-root-ca.crt');
    const { resourceVersion } = (await first.request('GET', MAPS)).body.metadata;
    expect((await first.request('POST', MAPS, map('two'))).code).toBe(200);
    await first.stop();

    const second = await start();
    expect((await second.request('POST', MAPS, map('three'))).code).toBe(200);
    const watch = await second.watch(`${MAPS}?watch=true&resourceVersion=${resourceVersion}`);
    const events = await take(watch, 2);
    expect(events.map(({ type, object }) => [type, object.metadata.name])).toEqual([
      ['ADDED', 'two'],
      ['ADDED', 'three'],
    ]);
  });

  test('the authority, the kubeconfig and the port stay across starts', async () => {
    const first = await start();
    const before = await readFile(first.kubeconfig, 'utf8');
    await first.stop();
    const again = await runUntilReady(['--data-dir', join(directory, 'data'), '--kubeconfig', first.kubeconfig]);
    expect(again).toContain(first.origin);
    expect(await readFile(first.kubeconfig, 'utf8')).toBe(before);
  });

  test('SIGKILL loses nothing that was acknowledged', async () => {
    const first = await start();
    for (const name of ['a', 'b', 'c']) expect((await first.request('POST', MAPS, map(name))).code).toBe(200);
    await first.stop('SIGKILL');
    const second = await start();
    const { items } = (await second.request('GET', MAPS)).body;
    expect(items.map(({ metadata }: any) => metadata.name)).toEqual(expect.arrayContaining(['a', 'b', 'c']));
  });

  test('tokens, passwords, anonymous requests and plain HTTP on loopback are accepted with their flags', async () => {
    await writeFile(join(directory, 'tokens'), 'secret-token,ann,1,"dev,system:masters"\nidle-token,joe,3\n');
    const port = await freePort();
    await writeFile(join(directory, 'passwords'), 'secret-word,bob,2,system:masters\n');
    const qd = await start([
      ...['--token-auth-file', join(directory, 'tokens'), '--basic-auth-file', join(directory, 'passwords')],
      ...['--anonymous-auth', '--insecure-port', String(port)],
    ]);
    const code = async (authorization?: string) => {
      const headers = authorization ? { authorization } : {};
      const { Agent, request } = await import('node:https');
      const ca = await readFile(join(directory, 'data', 'pki', 'ca.crt'));
      return new Promise((resolve, reject) => {
        request(`${qd.origin}${MAPS}`, { headers, ca, agent: new Agent() }, (response) => {
          response.resume();
          resolve(response.statusCode);
        })
          .on('error', reject)
          .end();
      });
    };
    expect(await code('Bearer secret-token')).toBe(200);
    expect(await code('Bearer idle-token')).toBe(403);
    expect(await code('Bearer wrong')).toBe(401);
    expect(await code(`Basic ${btoa('bob:secret-word')}`)).toBe(200);
    expect(await code(`Basic ${btoa('bob:wrong')}`)).toBe(401);
    expect(await code()).toBe(403);
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/namespaces/default`);
    expect(answer.status).toBe(200);
  });

  test('anonymous users may do everything with AlwaysAllow', async () => {
    const qd = await start(['--anonymous-auth', '--authorization-mode', 'AlwaysAllow']);
    const ca = await readFile(join(directory, 'data', 'pki', 'ca.crt'));
    const code = await new Promise((resolve, reject) => {
      get(`${qd.origin}${MAPS}`, { ca, agent: false }, (response) => resolve(response.resume().statusCode)).on(
        'error',
        reject,
      );
    });
    expect(code).toBe(200);
  });

  describe('errors are one line, with code 1', () => {
    test('a taken port', async () => {
      const other = createServer().listen(0, '127.0.0.1');
      await once(other, 'listening');
      const { port } = other.address() as { port: number };
      await expectLine(up('--port', String(port)), new RegExp(`port ${port} on 127.0.0.1 is used by another program`));
      other.close();
    });

    test('a directory of a newer format', async () => {
      await mkdir(join(directory, 'data'));
      await writeFile(join(directory, 'data', 'cluster.json'), '{"format":99}');
      await expectLine(up('--port', '0'), /format 99, and this qd supports 1/);
    });

    test('a directory without permission to write, or to read', async () => {
      const closed = join(directory, 'closed');
      await mkdir(closed);
      await chmod(closed, 0o500);
      await chmod(directory, 0o755);
      // Root may write anywhere: the program therefore runs as the user nobody.
      const nobody = process.getuid?.() === 0 ? { uid: 65_534 } : {};
      await expectLine(['up', '--data-dir', join(closed, 'data')], /no permission to read or write .*closed/, nobody);
      await chmod(closed, 0);
      const { stderr } = await runQd(['certs', 'show', '--data-dir', join(closed, 'data')], nobody);
      expect(stderr).toMatch(/^qd: no permission to read or write .*closed/);
    });

    test.skipIf(process.platform !== 'linux')('a directory that cannot be created', async () => {
      const env = { HOME: directory, KUBECONFIG: '' };
      for (const flags of [[], ['--detach']]) {
        await expectLine(
          ['up', '--data-dir', '/proc/x/y', '--port', '0', ...flags],
          /^qd: \/proc\/x cannot be created/,
          {
            env,
            timeout: 15_000,
          },
        );
      }
    });

    test.each([
      [['--port', '99999'], /--port .*number from 0 to 65535/],
      [['--store', 'cloud'], /--store .*embedded, etcd, memory/],
      [['--store', 'etcd'], /--store etcd needs --etcd-servers/],
      [['--authorization-mode', 'RBAC,ABAC'], /"ABAC" is not one of Node, RBAC, Webhook, AlwaysAllow, AlwaysDeny/],
      [['--authorization-mode', 'RBAC,RBAC'], /Each mode may be given only once/],
      [
        ['--authorization-mode', 'Webhook', '--port', '0'],
        /--authorization-webhook-config-file must be given together/,
      ],
      [['--runtime', 'imaginary'], /--runtime .*auto, containerd, process, simulated/],
      [['--nonsense'], /unknown option '--nonsense'/],
      [['surplus'], /too many arguments/],
      [['--bind-address', '192.0.2.1', '--port', '0'], /192\.0\.2\.1 is not an address of this machine/],
      [['--token-auth-file', '/nowhere/tokens', '--port', '0'], /--token-auth-file \/nowhere\/tokens cannot be used/],
    ])('flags %j', async (flags, line) => {
      await expectLine(up(...flags), line);
    });

    test('an unknown command', async () => {
      const { code, stderr } = await runQd(['fly']);
      expect(stderr).toMatch(/^qd: unknown command 'fly'[^\n]*\n$/);
      expect(code).toBe(1);
    });
  });

  test('SIGTERM ends a start that waits for something', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as { port: number };
    const flags = ['--store', 'etcd', '--etcd-servers', `http://127.0.0.1:${port}`];
    const child = spawnProgram('qd', ['up', '--data-dir', join(directory, 'data'), '--port', '0', ...flags], {});
    let said = '';
    child.stdout?.on('data', (chunk) => {
      said += chunk;
    });
    const [socket] = await once(silent, 'connection');
    child.kill('SIGTERM');
    expect(await once(child, 'close')).toEqual([0, null]);
    expect(said).toContain('Stopped on SIGTERM, before the cluster was ready.');
    socket.destroy();
    silent.close();
  });

  describe('without --kubeconfig', () => {
    const env = () => ({ HOME: directory, KUBECONFIG: '' });
    const upUntilReady = (...flags: string[]) => runUntilReady(flags, env());

    test("a cluster goes into the user's own file beside what is there", async () => {
      await mkdir(join(directory, '.kube'));
      await writeFile(
        join(directory, '.kube', 'config'),
        'apiVersion: v1\nkind: Config\ncurrent-context: work\n# mine\n',
      );
      const said = await upUntilReady('--name', 'dev', '--port', '0');
      expect(said).toContain(`context "dev" in ${join(directory, '.kube', 'config')}`);
      expect(said).toContain('kubectl --context dev get namespaces');
      const config = await readFile(join(directory, '.kube', 'config'), 'utf8');
      expect(config).toContain('current-context: dev');
      expect(config).toContain('# mine');
      expect(await readFile(join(directory, '.quarterdeck', 'dev', 'admin.kubeconfig'), 'utf8')).toContain('name: dev');
    });

    test('each name has its own directory, port and range', async () => {
      const portOf = (said: string) => Number(/^Ready .*:(\d+)$/m.exec(said)?.[1]);
      const one = portOf(await upUntilReady('--name', 'one'));
      const two = portOf(await upUntilReady('--name', 'two'));
      expect(one).toBeGreaterThan(6443);
      expect(two).toBeGreaterThan(6443);
      expect(two).not.toBe(one);
      expect(portOf(await upUntilReady('--name', 'one'))).toBe(one);
      const remembered = async (name: string) =>
        JSON.parse(await readFile(join(directory, '.quarterdeck', name, 'cluster.json'), 'utf8'));
      const { port, serviceClusterIpRange: range } = await remembered('two');
      expect(port).toBe(two);
      // Other clusters of this machine may hold the next ranges.
      expect(range).toMatch(/^10\.\d+\.0\.0\/16$/);
      expect(range).not.toBe((await remembered('one')).serviceClusterIpRange);
    });
  });

  test('a directory that is copied while it is in use can be started beside the first', async () => {
    const first = await start();
    expect((await first.request('POST', MAPS, map('copied'))).code).toBe(200);
    const copy = join(directory, 'copy');
    await cp(join(directory, 'data'), join(copy, 'data'), { recursive: true });
    const second = await startQd({ directory: copy });
    running.push(second);
    expect((await second.request('GET', `${MAPS}/copied`)).code).toBe(200);
    expect((await first.request('GET', `${MAPS}/copied`)).code).toBe(200);
  });

  describe.skipIf(missing)('on etcd', () => {
    test('objects survive the process and its directory, given the encryption key', async () => {
      const etcd = await TestEtcd.start();
      try {
        const key = ['--encryption-key-file', join(directory, 'encryption.key')];
        const flags = ['--store', 'etcd', '--etcd-servers', etcd.endpoint, ...key];
        const first = await start(flags);
        expect((await first.request('POST', MAPS, map('kept'))).code).toBe(200);
        await first.stop();
        await rm(join(directory, 'data'), { recursive: true });
        const second = await start(flags);
        expect((await second.request('GET', `${MAPS}/kept`)).body.data).toEqual({ n: 'kept' });
        await second.stop();
      } finally {
        await etcd.remove();
      }
    });

    test('that is not there, a start fails with one line', async () => {
      const args = ['up', '--data-dir', join(directory, 'data'), '--port', '0', '--store', 'etcd'];
      const { code, stderr } = await runQd([...args, '--etcd-servers', 'http://127.0.0.1:1']);
      expect(stderr).toMatch(/^qd: etcd [^\n]+\n$/);
      expect(code).toBe(1);
    });
  });

  test('both programs print their version', async () => {
    const { version } = JSON.parse(await readFile(join(import.meta.dirname, '..', '..', 'package.json'), 'utf8'));
    expect(await runQd(['version'])).toMatchObject({ code: 0, stdout: `qd ${version}\n` });
    expect(await runQd(['--version'])).toMatchObject({ code: 0, stdout: `qd ${version}\n` });
    expect(await runQd(['version'], { program: 'qdfed' })).toMatchObject({ code: 0, stdout: `qdfed ${version}\n` });
  });
});
