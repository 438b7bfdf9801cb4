import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, connect as dial, type Socket } from 'node:net';
import { type Duplex, Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { ProcessStreams, TerminalSize } from '../../base/programs/process-streams.ts';
import { type Clock, ControlledClock, systemClock } from '../../base/time/clock.ts';
import { isApiError } from '../errors.ts';
import type { CommandStreams } from './command-channels.ts';
import { openCommand } from './command-client.ts';
import { openPort } from './port-client.ts';
import { serveCommand } from './serve-command.ts';
import { commandUpgrade, portUpgrade, type Upgrade } from './upgrade.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A local process with the streams that an agent would provide. */
function run(
  command: string,
  streams: CommandStreams,
  resized: TerminalSize[] = [],
): ProcessStreams & { child: ChildProcess } {
  const child = spawn('sh', ['-c', command], { detached: true });
  closing.push(() => child.kill('SIGKILL'));
  if (!streams.stdin) child.stdin.end();
  const exit = once(child, 'close').then(([exitCode]) => ({ exitCode: exitCode ?? 137 }));
  return {
    child,
    stdin: streams.stdin ? child.stdin : undefined,
    stdout: streams.stdout ? child.stdout : undefined,
    stderr: streams.stderr ? child.stderr : undefined,
    exit,
    resize: (size) => void resized.push(size),
    close: () => {
      if (child.exitCode === null && child.pid) process.kill(-child.pid, 'SIGKILL');
    },
  };
}

/** Serves upgrades; errors are responses with their message. */
async function serve<T>(agree: (request: IncomingMessage) => Upgrade<T>, started: (result: T) => void = () => {}) {
  const server: Server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.on('upgrade', (request, socket: Socket, head) => {
    let upgrade: Upgrade<T>;
    try {
      upgrade = agree(request);
    } catch (error) {
      if (!isApiError(error)) throw error;
      const body = JSON.stringify(error.toStatus());
      socket.end(
        `HTTP/1.1 ${error.toStatus().code} Rejected\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
      );
      return;
    }
    const lines = upgrade.headers.map((each, index) => (index % 2 === 0 ? `${each}: ` : `${each}\r\n`)).join('');
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines}\r\n`);
    socket.unshift(head);
    started(upgrade.start(socket));
  });
  closing.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

const MUCH = 64 * 1024 * 1024;
const ALL: CommandStreams = { stdin: true, stdout: true, stderr: true, tty: false };

interface CommandServer {
  readonly port: number;
  readonly resized: TerminalSize[];
  readonly children: ChildProcess[];
}

async function serveShell(command: string, streams = ALL, clock: Clock = systemClock): Promise<CommandServer> {
  const resized: TerminalSize[] = [];
  const children: ChildProcess[] = [];
  const port = await serve(
    (request) => commandUpgrade({ method: request.method ?? '', headers: request.headers }, streams, clock),
    async (channels) => {
      const running = run(command, streams, resized);
      children.push(running.child);
      await serveCommand(running, await channels, { failure: 'error executing command in container' });
    },
  );
  return { port, resized, children };
}

/** Collects the messages that a WebSocket client receives, by channel, until the server closes. */
async function overWebSocket(port: number, protocol: string | undefined, send: (socket: WebSocket) => void = () => {}) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`, protocol ? [protocol] : []);
  const received: Buffer[][] = [];
  const isBase64 = protocol?.includes('base64') ?? false;
  socket.on('message', (message: Buffer, isBinary) => {
    expect(isBinary).toBe(!isBase64);
    const channel = isBase64 ? Number(message.toString('latin1', 0, 1)) : message[0]!;
    const bytes = isBase64 ? Buffer.from(message.toString('latin1', 1), 'base64') : message.subarray(1);
    received[channel] = [...(received[channel] ?? []), bytes];
  });
  await once(socket, 'open');
  expect(socket.protocol).toBe(protocol ?? '');
  send(socket);
  const [code] = await once(socket, 'close');
  return { code, channels: received.map((parts) => Buffer.concat(parts).toString()) };
}

const EXIT_STATUS = {
  metadata: {},
  status: 'Failure',
  message: 'command terminated with non-zero exit code: exit status 3',
  reason: 'NonZeroExitCode',
  details: { causes: [{ reason: 'ExitCode', message: '3' }] },
};

describe('a command over a WebSocket', () => {
  it.each(['v5.channel.k8s.io', 'v4.channel.k8s.io', 'v4.base64.channel.k8s.io'])(
    'has output and a status: %s',
    async (protocol) => {
      const { port } = await serveShell('echo out; echo err >&2; exit 3');
      const { channels, code } = await overWebSocket(port, protocol);
      expect(code).toBe(1000);
      expect(channels.slice(1, 3)).toEqual(['out\n', 'err\n']);
      expect(JSON.parse(channels[3]!)).toEqual(EXIT_STATUS);
    },
  );

  it.each(['channel.k8s.io', 'base64.channel.k8s.io', undefined])('reports a failure as text: %s', async (protocol) => {
    const failed = await overWebSocket((await serveShell('exit 3')).port, protocol);
    expect(failed.channels[3]).toBe('command terminated with non-zero exit code: exit status 3');
    const succeeded = await overWebSocket((await serveShell('echo fine')).port, protocol);
    expect(succeeded.channels).toEqual([undefined, 'fine\n', ...succeeded.channels.slice(2)]);
    expect(succeeded.channels[3]).toBeUndefined();
  });

  it('holds its output back until the client knows its channels', async () => {
    const clock = new ControlledClock();
    const { port, children } = await serveShell('echo out; exit 3', ALL, clock);
    let isEnded = false;
    const ended = overWebSocket(port, 'v5.channel.k8s.io').then((received) => {
      isEnded = true;
      return received;
    });
    await expect.poll(() => children[0]?.exitCode).toBe(3);
    await nextTurn();
    expect(isEnded).toBe(false);
    await clock.advance(20);
    expect((await ended).channels[1]).toBe('out\n');
  });

  it('closes standard input with the close signal of v5', async () => {
    const { port } = await serveShell('cat');
    const { channels } = await overWebSocket(port, 'v5.channel.k8s.io', (socket) => {
      socket.send(Buffer.from('\0some '));
      socket.send(Buffer.from('\0text'));
      socket.send(Buffer.from([255, 0]));
    });
    expect(channels[1]).toBe('some text');
    expect(JSON.parse(channels[3]!)).toEqual({ metadata: {}, status: 'Success' });
  });

  it('reads base64 in fragments', async () => {
    const { port } = await serveShell('head -c 10');
    const { channels } = await overWebSocket(port, 'v4.base64.channel.k8s.io', (socket) => {
      const message = `0${Buffer.from('0123456789').toString('base64')}`;
      for (let i = 0; i < message.length; i++) socket.send(message[i]!, { fin: i === message.length - 1 });
    });
    expect(channels[1]).toBe('0123456789');
  });

  it('resizes the terminal', async () => {
    const { port, resized } = await serveShell('head -c 1', { ...ALL, tty: true, stderr: false });
    await overWebSocket(port, 'v4.channel.k8s.io', (socket) => {
      socket.send(Buffer.from('\u0004{"Width":80,"Height":24}'));
      socket.send(Buffer.from('\u0004{"Width":-1,"Height":24}\u0000'));
      socket.send(Buffer.from('\0x'));
    });
    expect(resized).toEqual([{ columns: 80, rows: 24 }]);
  });

  it('ends when the client leaves', async () => {
    const { port, children } = await serveShell('echo ready; sleep 1000');
    const socket = new WebSocket(`ws://127.0.0.1:${port}/`, ['v4.channel.k8s.io']);
    await once(socket, 'message');
    await once(socket, 'message');
    socket.terminate();
    expect(await once(children[0]!, 'exit')).toEqual([null, 'SIGKILL']);
  });

  it('is rejected when the client offers no known protocol', async () => {
    const { port } = await serveShell('true');
    const socket = new WebSocket(`ws://127.0.0.1:${port}/`, ['v9.channel.k8s.io']);
    const [, response] = await once(
      socket.on('error', () => {}),
      'unexpected-response',
    );
    expect(response.statusCode).toBe(400);
  });
});

describe('a command over SPDY', () => {
  const url = (port: number) => new URL(`http://127.0.0.1:${port}/`);

  it('carries input, output and the exit code', async () => {
    const { port } = await serveShell('cat; echo err >&2; exit 3');
    const command = await openCommand({ url: url(port) }, ALL);
    command.stdin!.end('hello');
    const output = await Promise.all([text(command.stdout!), text(command.stderr!)]);
    expect(output).toEqual(['hello', 'err\n']);
    expect(await command.exit).toEqual({ exitCode: 3 });
  });

  it('carries large amounts in both directions', async () => {
    const { port } = await serveShell('cat');
    const command = await openCommand({ url: url(port) }, ALL);
    const much = Buffer.alloc(20 * 1024 * 1024, 'much ');
    command.stdin!.end(much);
    expect((await buffer(command.stdout!)).equals(much)).toBe(true);
    expect(await command.exit).toEqual({ exitCode: 0 });
  });

  it('resizes the terminal', async () => {
    const { port, resized } = await serveShell('head -c 1', { ...ALL, tty: true, stderr: false });
    const command = await openCommand({ url: url(port) }, { ...ALL, tty: true });
    command.resize({ columns: 132, rows: 50 });
    command.stdin!.write('x');
    command.stdout!.resume();
    await command.exit;
    expect(resized).toEqual([{ columns: 132, rows: 50 }]);
  });

  it('ends when the client closes it', async () => {
    const { port, children } = await serveShell('echo ready; sleep 1000');
    const command = await openCommand({ url: url(port) }, ALL);
    await once(command.stdout!, 'data');
    command.close();
    expect(await once(children[0]!, 'exit')).toEqual([null, 'SIGKILL']);
    await expect(command.exit).rejects.toThrow();
  });

  it('does not read the output of a process faster than its client', async () => {
    let produced = 0;
    const stdout = new Readable({
      read() {
        produced += 64 * 1024;
        this.push(produced > MUCH ? null : Buffer.alloc(64 * 1024));
      },
    });
    const exit = once(stdout, 'end').then(() => ({ exitCode: 0 }));
    const endless: ProcessStreams = { stdin: undefined, stdout, stderr: undefined, exit, resize() {}, close() {} };
    const streams = { stdin: false, stdout: true, stderr: false, tty: false };
    const port = await serve(
      ({ headers }) => commandUpgrade({ method: 'POST', headers }, streams, systemClock),
      async (channels) => serveCommand(endless, await channels, { failure: '' }),
    );
    const command = await openCommand({ url: url(port) }, streams);
    // It stops when every buffer on the way is full.
    let unchanged = 0;
    for (let before = -1; unchanged < 1000; before = produced) {
      unchanged = produced > 0 && produced === before ? unchanged + 1 : 0;
      await nextTurn();
    }
    expect(produced).toBeLessThan(MUCH / 4);
    let received = 0;
    for await (const bytes of command.stdout!) received += bytes.length;
    expect(received).toBe(MUCH);
  });

  it('is rejected with the Status of the server', async () => {
    const port = await serve(() => commandUpgrade({ method: 'POST', headers: {} }, ALL, systemClock));
    await expect(openCommand({ url: url(port) }, ALL)).rejects.toMatchObject({
      reason: 'BadRequest',
      message: 'Upgrade request required',
    });
  });
});

/** An echo server, and a server that forwards ports to it. */
async function servePorts() {
  const target = createTcpServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
  await once(target, 'listening');
  closing.push(() => target.close());
  const echo = (target.address() as AddressInfo).port;
  const forwarder = {
    async connect(port: number): Promise<Duplex> {
      const socket = dial({ port, host: '127.0.0.1', allowHalfOpen: true });
      await once(socket, 'connect');
      closing.push(() => socket.destroy());
      return socket;
    },
    describe: (port: number, error: Error) => `error forwarding port ${port}: ${error.message}`,
  };
  const port = await serve((request) => {
    const { searchParams } = new URL(request.url!, 'http://x');
    const ports = searchParams.getAll('ports').map(Number);
    return portUpgrade({ method: request.method!, headers: request.headers }, ports, forwarder);
  });
  return { port, echo };
}

describe('a forwarded port', () => {
  it('is a connection over SPDY', async () => {
    const { port, echo } = await servePorts();
    const connection = await openPort({ url: new URL(`http://127.0.0.1:${port}/`) }, echo);
    const much = Buffer.alloc(5_000_000, 'abc');
    connection.end(much);
    expect((await buffer(connection)).equals(much)).toBe(true);
  });

  it('reports over SPDY that the port is closed', async () => {
    const { port } = await servePorts();
    const connection = await openPort({ url: new URL(`http://127.0.0.1:${port}/`) }, 1);
    const [error] = await once(connection, 'error');
    expect(error.message).toContain('error forwarding port 1: connect ECONNREFUSED');
  });

  it.each(['v4.channel.k8s.io', 'v4.base64.channel.k8s.io', undefined])(
    'is a channel of a WebSocket: %s',
    async (protocol) => {
      const { port, echo } = await servePorts();
      const isBase64 = protocol?.includes('base64') ?? false;
      const socket = new WebSocket(`ws://127.0.0.1:${port}/?ports=${echo}&ports=1`, protocol ? [protocol] : []);
      const received: Buffer[] = [];
      await new Promise<void>((resolve) => {
        socket.on('message', (message: Buffer) => {
          const channel = isBase64 ? Number(message.toString('latin1', 0, 1)) : message[0]!;
          const bytes = isBase64 ? Buffer.from(message.toString('latin1', 1), 'base64') : message.subarray(1);
          if (channel === 0 && !received[0]) {
            const ping = Buffer.from('ping');
            socket.send(isBase64 ? `0${ping.toString('base64')}` : Buffer.concat([Buffer.from([0]), ping]));
          }
          received[channel] = Buffer.concat([received[channel] ?? Buffer.alloc(0), bytes]);
          if (received[0]?.length === 6 && received[3]!.length > 2) resolve();
        });
      });
      expect(received[0]!.readUInt16LE()).toBe(echo);
      expect(received[0]!.toString('utf8', 2)).toBe('ping');
      expect(received[3]!.toString('utf8', 2)).toContain('error forwarding port 1: connect ECONNREFUSED');
      socket.close();
      await once(socket, 'close');
    },
  );

  it.each([
    ['none', ''],
    ['more than there are channels', `?ports=${Array(129).fill(1).join('&ports=')}`],
  ])('is rejected with a WebSocket when the query has %s', async (_what, query) => {
    const { port } = await servePorts();
    const socket = new WebSocket(`ws://127.0.0.1:${port}/${query}`, ['v4.channel.k8s.io']);
    const [, response] = await once(
      socket.on('error', () => {}),
      'unexpected-response',
    );
    expect(response.statusCode).toBe(400);
  });
});
