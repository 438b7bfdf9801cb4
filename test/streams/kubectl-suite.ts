/** exec, attach, cp and port-forward with kubectl: old releases speak SPDY, new ones WebSockets. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
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

    describe.each(isNewest ? ['true', 'false'] : ['false'])('forwards ports over WebSockets: %s', (webSockets) => {
      const forwarded: ChildProcessWithoutNullStreams[] = [];
      const servers: Server[] = [];
      afterEach(async () => {
        for (const server of servers.splice(0)) server.close();
        for (const child of forwarded.splice(0)) {
          child.kill();
          await once(child, 'close');
        }
      });

      /** Forwards to a server in the pod. Resolves with the local port. */
      async function forward(serve: (socket: Socket) => void): Promise<number> {
        const server = createServer({ allowHalfOpen: true }, serve).listen(0, '127.0.0.1');
        servers.push(server);
        await once(server, 'listening');
        const { port } = server.address() as AddressInfo;
        const child = spawn(program, ['port-forward', 'pod/web', `:${port}`], {
          env: {
            ...{ PATH: process.env.PATH, HOME: running.directory, KUBECONFIG: running.kubeconfig },
            KUBECTL_PORT_FORWARD_WEBSOCKETS: webSockets,
          },
        });
        forwarded.push(child);
        child.stderr.resume();
        const [line] = await once(child.stdout, 'data');
        child.stdout.resume();
        return Number(/127\.0\.0\.1:(\d+)/.exec(String(line))![1]);
      }

      it('ends a connection that the pod has closed', async () => {
        const local = await forward((socket) => socket.end('bye\n'));
        const socket = connect({ port: local, host: '127.0.0.1', allowHalfOpen: true });
        expect(await text(socket)).toBe('bye\n');
      });

      it('hands on the end of what the client sends, and the answer to it', async () => {
        const local = await forward((socket) => {
          void buffer(socket.iterator({ destroyOnReturn: false })).then(({ length }) => socket.end(`${length}\n`));
        });
        const socket = connect({ port: local, host: '127.0.0.1', allowHalfOpen: true });
        socket.end('four');
        expect(await text(socket)).toBe('4\n');
      });

      it('ends a connection that the pod resets', async () => {
        const local = await forward((socket) => void socket.once('data', () => socket.resetAndDestroy()));
        const socket = connect({ port: local, host: '127.0.0.1' });
        socket.on('error', () => undefined).resume();
        socket.write('go');
        await once(socket, 'close');
      });

      it('serves a web page whose end is the end of the connection', async () => {
        const page = 'x'.repeat(100_000);
        const local = await forward((socket) => {
          socket.once('data', () => socket.end(`HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\n${page}`));
        });
        const curl = spawn('curl', ['-s', '-m', '10', `http://127.0.0.1:${local}/`]);
        const [body, [code]] = await Promise.all([text(curl.stdout), once(curl, 'close')]);
        expect({ code, isWhole: body === page }).toEqual({ code: 0, isWhole: true });
      });
    });

    it('ends a command whose client keeps its input open', async () => {
      const child = start('exec', '-i', 'web', '--', 'sh', '-c', 'echo out; exit 3');
      const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'close')]);
      expect({ stdout, code }).toEqual({ stdout: 'out\n', code: 3 });
    });

    it('shows what a command says after the end of its input', async () => {
      const { stdout, code } = await kubectl(['exec', '-i', 'web', '--', 'sh', '-c', 'wc -c; exit 4'], 'four');
      expect({ stdout: stdout.trim(), code }).toEqual({ stdout: '4', code: 4 });
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
