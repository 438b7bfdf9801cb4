/** exec, attach, cp and port-forward with kubectl: old releases speak SPDY, new ones WebSockets. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kubectls } from '../e2e/kubectl.ts';
import type { HostNode } from './host-node.ts';
import { type StreamServer, startStreamServer } from './server.ts';

/** `open` opens the node that the pods run on. */
export function kubectlStreams(open: () => HostNode | Promise<HostNode>): void {
  let node: HostNode;
  let running: StreamServer;

  beforeAll(async () => {
    node = await open();
    running = await startStreamServer(node);
    await running.createPod('web');
    await running.createPod('two', { containers: ['a', 'b'].map((name) => ({ name, image: 'host' })) });
  });

  afterAll(async () => {
    node.stop();
    await running.stop();
  });

  describe.each(kubectls)('kubectl ($name)', ({ program, isNewest }) => {
    const start = (...parameters: string[]): ChildProcessWithoutNullStreams =>
      spawn(program, parameters, {
        env: { PATH: process.env.PATH, HOME: running.directory, KUBECONFIG: running.kubeconfig },
      });

    async function kubectl(parameters: readonly string[], input: string | Buffer = '') {
      const child = start(...parameters);
      child.stdin.end(input);
      const [stdout, stderr, [code]] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, 'close'),
      ]);
      return { stdout, stderr, code };
    }

    it('runs a command, and exits as it does', async () => {
      const { stdout, stderr, code } = await kubectl([
        'exec',
        'web',
        '--',
        'sh',
        '-c',
        'echo out; echo err >&2; exit 3',
      ]);
      expect(stdout).toBe('out\n');
      expect(stderr).toBe('err\ncommand terminated with exit code 3\n');
      expect(code).toBe(3);
    });

    it('sends standard input', async () => {
      expect(await kubectl(['exec', '-i', 'web', '--', 'cat'], 'hello')).toMatchObject({ stdout: 'hello', code: 0 });
    });

    it('carries much in both directions', async () => {
      const much = Buffer.alloc(8 * 1024 * 1024, '0123456789abcdef\n');
      const child = start('exec', '-i', 'web', '--', 'cat');
      child.stdin.end(much);
      child.stderr.resume();
      expect((await buffer(child.stdout)).equals(much)).toBe(true);
    });

    it('says what is wrong', async () => {
      expect((await kubectl(['exec', 'absent', '--', 'true'])).stderr).toContain('pods "absent" not found');
      expect((await kubectl(['exec', 'web', '-c', 'absent', '--', 'true'])).stderr).toContain(
        'container absent is not valid for pod web',
      );
      const { stderr, code } = await kubectl(['exec', 'web', '--', '/no/such/program']);
      expect(stderr).toContain('ENOENT');
      expect(code).toBe(1);
    });

    it('has a terminal', async () => {
      const command = `${program} exec -it web -- sh -c 'tty; stty size; read -r line; echo "read $line"'`;
      const child = spawn('script', ['-qec', command, '/dev/null'], {
        env: { ...process.env, HOME: running.directory, KUBECONFIG: running.kubeconfig },
      });
      child.stdout.on('data', (bytes: Buffer) => {
        if (bytes.toString().includes('/dev/pts')) child.stdin.write('typed\n');
      });
      const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
      expect(stdout).toContain('/dev/pts');
      expect(stdout).toContain('read typed');
      expect(code).toBe(0);
      expect(node.resized.length).toBeGreaterThan(0);
    });

    it('attaches', async () => {
      const { stdout } = await kubectl(['attach', '-i', 'web'], 'one\ntwo\n');
      expect(stdout).toContain('got one\ngot two\n');
    });

    it('copies files to the container and back', async () => {
      const from = join(running.directory, `from-${isNewest}`);
      const [to, back] = [`${from}.copied`, `${from}.back`];
      await writeFile(from, Buffer.alloc(1_000_000, 'content '));
      const there = await kubectl(['cp', from, `default/web:${to}`]);
      expect(there.code, there.stderr).toBe(0);
      const again = await kubectl(['cp', `default/web:${to}`, back]);
      expect(again.code, again.stderr).toBe(0);
      expect((await readFile(back)).equals(await readFile(from))).toBe(true);
    });

    it('forwards ports, several connections at a time', async () => {
      const echo = createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
      await once(echo, 'listening');
      const { port } = echo.address() as AddressInfo;
      const child = start('port-forward', 'pod/web', `:${port}`);
      child.stderr.resume();
      const [line] = await once(child.stdout, 'data');
      child.stdout.resume();
      const local = Number(/127\.0\.0\.1:(\d+)/.exec(String(line))![1]);
      const body = Buffer.alloc(2_000_000, 'forwarded ');
      const echoed = async () => {
        const socket = connect({ port: local, host: '127.0.0.1', allowHalfOpen: true });
        socket.end(body);
        return (await buffer(socket)).equals(body);
      };
      expect(await Promise.all([echoed(), echoed(), echoed()])).toEqual([true, true, true]);
      expect(await echoed()).toBe(true);
      child.kill();
      await once(child, 'close');
      echo.close();
    });

    it('ends what it started when it is stopped', async () => {
      const before = node.children.length;
      const child = start('exec', 'web', '--', 'sh', '-c', 'echo ready; sleep 1000');
      await once(child.stdout, 'data');
      const process = node.children[before]!;
      const ended = once(process, 'exit');
      child.kill('SIGKILL');
      expect(await ended).toEqual([null, 'SIGKILL']);
    });
  });
}
