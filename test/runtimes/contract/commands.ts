/** Commands in running containers, their streams, and ports. */
import { once } from 'node:events';
import type { Duplex, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import type { Subject } from '../world.ts';

/** Waits for a size of the terminal, which goes another way than the input and may come after it. */
const untilSize = (size: string) => `until stty size 2>/dev/null | grep "${size}"; do sleep 0.05; done`;
const ALL = { stdin: true, stdout: true, stderr: true, tty: false };

export function describeCommands({ world, lacks }: Subject): void {
  const shell = (script: string) => ['/bin/sh', '-c', script];

  it('runs a command to its end', async () => {
    const { id } = await world().run('sleep 1000');
    const request = { command: shell('echo out; echo err >&2; exit 3'), timeoutMs: 10_000, maxBytes: 1000 };
    const { exitCode, stdout, stderr } = await world().runtime.run(id, request);
    expect({ exitCode, stdout: String(stdout), stderr: String(stderr) }).toEqual({
      exitCode: 3,
      stdout: 'out\n',
      stderr: 'err\n',
    });
  });

  it('drops the output of a command beyond its limit', async () => {
    const { id } = await world().run('sleep 1000');
    const request = { command: shell('yes | head -c 100000; echo end >&2'), timeoutMs: 10_000, maxBytes: 1000 };
    const { stdout, stderr } = await world().runtime.run(id, request);
    expect(stdout.length).toBe(1000);
    expect(String(stderr)).toBe('end\n');
  });

  it('kills a command that takes too long', async () => {
    const { id } = await world().run('sleep 1000');
    // Long enough for the command to have begun.
    const running = world().runtime.run(id, { command: shell('exec sleep 987'), timeoutMs: 2_000, maxBytes: 1000 });
    await expect(running).rejects.toMatchObject({ name: 'RuntimeError', code: 'DeadlineExceeded' });
    const list = { command: shell('cat /proc/[0-9]*/cmdline | tr "\\000" " "'), timeoutMs: 10_000, maxBytes: 10_000 };
    await expect.poll(async () => String((await world().runtime.run(id, list)).stdout)).not.toContain('sleep 987');
  });

  it('rejects commands in a container that does not run', async () => {
    const container = await world().run('true');
    await container.ended();
    const request = { command: ['/bin/true'], timeoutMs: 10_000, maxBytes: 1000 };
    await expect(world().runtime.run(container.id, request)).rejects.toMatchObject({ name: 'RuntimeError' });
  });

  it('connects the streams of a command, and says how it ended', async () => {
    const { id } = await world().run('sleep 1000');
    const streams = await world().runtime.exec(id, { ...ALL, command: shell('cat; echo err >&2; exit 5') });
    streams.stdin?.end('hello');
    const output = await Promise.all([readAll(streams.stdout), readAll(streams.stderr)]);
    expect(output).toEqual(['hello', 'err\n']);
    expect(await streams.exit).toEqual({ exitCode: 5 });
  });

  it('has only the streams that were asked for', async () => {
    const { id } = await world().run('sleep 1000');
    const request = { ...ALL, stdin: false, stderr: false, command: shell('echo out; echo err >&2') };
    const streams = await world().runtime.exec(id, request);
    expect([streams.stdin, streams.stderr]).toEqual([undefined, undefined]);
    expect(await readAll(streams.stdout)).toBe('out\n');
    expect(await streams.exit).toEqual({ exitCode: 0 });
  });

  it('carries much through a command', async () => {
    const { id } = await world().run('sleep 1000');
    const streams = await world().runtime.exec(id, { ...ALL, stderr: false, command: ['/bin/wc', '-c'] });
    streams.stdin?.end(Buffer.alloc(5 * 2 ** 20, 'x'));
    expect((await readAll(streams.stdout)).trim()).toBe(String(5 * 2 ** 20));
    expect(await streams.exit).toEqual({ exitCode: 0 });
  });

  it('rejects a command that cannot be run', async () => {
    const { id } = await world().run('sleep 1000');
    const exec = async () => {
      const streams = await world().runtime.exec(id, { ...ALL, stdin: false, command: ['/no/such/program'] });
      await Promise.all([readAll(streams.stdout), readAll(streams.stderr)]);
      return streams.exit;
    };
    const outcome = await exec().catch((error: Error) => error);
    // Some runtimes report it like a shell.
    if (!(outcome instanceof Error)) expect([126, 127]).toContain(outcome.exitCode);
    else expect(outcome.message).toMatch(/no such file|not found/i);
  });

  it.skipIf(lacks.terminal)('gives a command a terminal of the size that is asked for', async () => {
    const { id } = await world().run('sleep 1000');
    const command = shell(`read go; ${untilSize('33 77')}; exit 2`);
    const streams = await world().runtime.exec(id, { ...ALL, stderr: false, tty: true, command });
    streams.resize({ columns: 77, rows: 33 });
    streams.stdin?.write('go\n');
    expect(await readAll(streams.stdout)).toContain('33 77');
    expect(await streams.exit).toEqual({ exitCode: 2 });
  });

  it('ends a command whose streams are closed', async () => {
    const { id } = await world().run('sleep 1000');
    const command = shell(
      'trap "" HUP; echo up; while read line; do echo $line; done; touch /tmp/closed; exec sleep 1',
    );
    const streams = await world().runtime.exec(id, { ...ALL, stderr: false, command });
    streams.exit.catch(() => undefined);
    await firstBytes(streams.stdout);
    streams.close();
    const look = { command: ['/bin/ls', '/tmp'], timeoutMs: 10_000, maxBytes: 1000 };
    await expect.poll(async () => String((await world().runtime.run(id, look)).stdout)).toContain('closed');
  });

  it('attaches to the streams of a container', async () => {
    // It ends in silence: containerd may lose the output of a process just before its end.
    const script = 'while read line; do [ "$line" = end ] && exit 6; echo "got $line"; echo "err $line" >&2; done';
    const { id, ended } = await attachable(script, { stdin: true });
    const streams = await world().runtime.attach(id, ALL);
    const [stdout, stderr] = [collected(streams.stdout!), collected(streams.stderr!)];
    // It passes input on before it has connected each output: an immediate answer may get lost.
    const isHeard = () => {
      if (stdout.text() !== '' && stderr.text() !== '') return true;
      streams.stdin?.write('hello\n');
      return false;
    };
    await expect.poll(isHeard).toBe(true);
    streams.stdin?.write('you\n');
    await expect.poll(() => stdout.text()).toMatch(/^(got hello\n)+got you\n$/);
    await expect.poll(() => stderr.text()).toMatch(/^(err hello\n)+err you\n$/);
    streams.stdin?.write('end\n');
    await Promise.all([stdout.ended, stderr.ended]);
    expect((await ended()).exitCode).toBe(6);
    // Attaching has succeeded, however the container ended.
    expect(await streams.exit).toEqual({ exitCode: 0 });
  });

  it('closes standard input after the first client, if so configured', async () => {
    const { id, ended } = await attachable('cat; echo end; exit 8', { stdin: true, stdinOnce: true });
    const streams = await world().runtime.attach(id, { ...ALL, stderr: false });
    const output = readAll(streams.stdout);
    streams.stdin?.end('only ');
    expect(await output).toBe('only end\n');
    expect((await ended()).exitCode).toBe(8);
  });

  it.skipIf(lacks.terminal)('attaches to a terminal', async () => {
    const { id, ended } = await attachable(`read go; ${untilSize('19 91')}; exit 9`, { stdin: true, tty: true });
    const streams = await world().runtime.attach(id, { ...ALL, stderr: false, tty: true });
    streams.resize({ columns: 91, rows: 19 });
    streams.stdin?.write('go\n');
    expect(await readAll(streams.stdout)).toContain('19 91');
    expect((await ended()).exitCode).toBe(9);
  });

  it('connects to a port in the sandbox', async () => {
    const { sandboxId } = await world().run('exec nc -ll -p 8123 -e /bin/cat');
    const connection = await connected(sandboxId, 8123);
    connection.end('through the port');
    expect(await text(connection)).toBe('through the port');
  });

  it('says when nobody listens on a port', async () => {
    const { sandboxId } = await world().run('sleep 1000');
    const attempt = world()
      .runtime.portForward(sandboxId, 8124)
      .then((connection) => text(connection.resume()));
    await expect(attempt).rejects.toThrow();
  });

  /** Starts a container that waits until a client is attached. */
  async function attachable(script: string, changes: { stdin: boolean; stdinOnce?: boolean; tty?: boolean }) {
    const container = await world().run(script, changes);
    return { id: container.id, ended: () => container.ended() };
  }

  /** A program that has just been started may not listen yet. */
  async function connected(sandboxId: string, port: number): Promise<Duplex> {
    const listening = `while ! grep -qi ":${port.toString(16)} " /proc/net/tcp /proc/net/tcp6; do sleep 0.05; done`;
    const [container] = (await world().runtime.containers()).filter((each) => each.sandboxId === sandboxId);
    await world().runtime.run(container?.id ?? '', { command: shell(listening), timeoutMs: 10_000, maxBytes: 1000 });
    return world().runtime.portForward(sandboxId, port);
  }
}

async function readAll(stream: Readable | undefined): Promise<string> {
  return stream ? text(stream) : '';
}

/** Collects the output of a stream. */
function collected(stream: Readable): { text(): string; readonly ended: Promise<unknown> } {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return { text: () => Buffer.concat(chunks).toString(), ended: once(stream, 'end') };
}

async function firstBytes(stream: Readable | undefined): Promise<void> {
  await new Promise((resolve) => stream?.once('data', resolve));
}
