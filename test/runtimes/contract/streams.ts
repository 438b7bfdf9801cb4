/** The ends of streams: commands, attached clients and connections to ports, closed by the pod or by the client. */
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import type { Runtime } from '../../../src/node/runtime/runtime.ts';
import { describeConnections, type PortBehaviour } from '../../streams/connection-contract.ts';
import { freePort } from '../../support/free-port.ts';
import { BUSYBOX, type Lacks, type TestContainer } from '../world.ts';

export interface StreamSubject {
  runtime(): Runtime;
  /** Starts a container that runs a shell script, in a new pod. */
  run(script: string, changes?: { stdin?: boolean; stdinOnce?: boolean }): Promise<TestContainer>;
  readonly lacks: Pick<Lacks, 'closed streams' | 'half-closed ports'>;
}

const INPUT_AND_OUTPUT = { stdin: true, stdout: true, stderr: false, tty: false };
const shell = (script: string) => ['sh', '-c', script];

/** The program that busybox's nc runs for each connection. */
const PROGRAMS: Readonly<Record<PortBehaviour, string>> = {
  closes: `${BUSYBOX} echo bye`,
  counts: `${BUSYBOX} wc -c`,
  echoes: `${BUSYBOX} cat`,
  // A socket that is closed with unread bytes sends a reset.
  resets: `${BUSYBOX} sleep 1`,
};

export function describeStreams({ runtime, run, lacks }: StreamSubject): void {
  it.skipIf(lacks['closed streams'])('ends the output of a command that closes it and goes on', async () => {
    const { id } = await run('sleep 1000');
    const command = shell('echo out; exec >&-; read line; exit 4');
    const streams = await runtime().exec(id, { ...INPUT_AND_OUTPUT, command });
    expect(await text(streams.stdout!)).toBe('out\n');
    streams.stdin!.write('go\n');
    expect(await streams.exit).toEqual({ exitCode: 4 });
  });

  it('ends a command whose client still has its input open', async () => {
    const { id } = await run('sleep 1000');
    const streams = await runtime().exec(id, { ...INPUT_AND_OUTPUT, command: shell('echo out; exit 3') });
    expect(await text(streams.stdout!)).toBe('out\n');
    expect(await streams.exit).toEqual({ exitCode: 3 });
  });

  it('hands on the end of the input, and what a command says after it', async () => {
    const { id } = await run('sleep 1000');
    const streams = await runtime().exec(id, { ...INPUT_AND_OUTPUT, command: shell('cat; sleep 2; echo end; exit 5') });
    streams.stdin!.end('in\n');
    expect(await text(streams.stdout!)).toBe('in\nend\n');
    expect(await streams.exit).toEqual({ exitCode: 5 });
  });

  it.skipIf(lacks['closed streams'])('goes on without the input of a command that has closed it', async () => {
    const { id } = await run('sleep 1000');
    const command = shell('exec <&-; echo closed; sleep 1; echo end; exit 6');
    const streams = await runtime().exec(id, { ...INPUT_AND_OUTPUT, command });
    streams.stdin!.on('error', () => undefined);
    const output = collected(streams.stdout!);
    await expect.poll(output.text).toBe('closed\n');
    streams.stdin!.write(Buffer.alloc(500_000));
    await output.ended;
    expect(output.text()).toBe('closed\nend\n');
    expect(await streams.exit).toEqual({ exitCode: 6 });
  });

  it('carries much through a command in both directions', async () => {
    const { id } = await run('sleep 1000');
    const streams = await runtime().exec(id, { ...INPUT_AND_OUTPUT, command: shell('cat') });
    const sent = Buffer.alloc(8 * 2 ** 20, 'much of it ');
    streams.stdin!.end(sent);
    const received: Buffer[] = [];
    for await (const chunk of streams.stdout as AsyncIterable<Buffer>) received.push(chunk);
    expect(Buffer.concat(received).equals(sent)).toBe(true);
    expect(await streams.exit).toEqual({ exitCode: 0 });
  });

  it('ends attached clients, whose input is open, with the container', async () => {
    const container = await run('read line; exit 7', { stdin: true });
    const streams = await runtime().attach(container.id, INPUT_AND_OUTPUT);
    const output = text(streams.stdout!);
    streams.stdin!.write('go\n');
    await output;
    expect(await streams.exit).toEqual({ exitCode: 0 });
    expect((await container.ended()).exitCode).toBe(7);
  });

  it('shows attached clients what follows the end of their input', async () => {
    const container = await run('cat; sleep 1; echo end; sleep 1; exit 8', { stdin: true, stdinOnce: true });
    const streams = await runtime().attach(container.id, INPUT_AND_OUTPUT);
    const output = text(streams.stdout!);
    streams.stdin!.end('in ');
    expect(await output).toBe('in end\n');
    expect((await container.ended()).exitCode).toBe(8);
  });

  it('leaves a container whose input stays open to the next client when that of a client has ended', async () => {
    const container = await run('read first; read second; echo "$first $second"', { stdin: true });
    const streams = await runtime().attach(container.id, INPUT_AND_OUTPUT);
    const output = text(streams.stdout!);
    streams.stdin!.end('one\n');
    expect(await output).toBe('');
    expect(await streams.exit).toEqual({ exitCode: 0 });
    const next = await runtime().attach(container.id, INPUT_AND_OUTPUT);
    const rest = text(next.stdout!);
    next.stdin!.write('two\n');
    expect(await rest).toBe('one two\n');
  });

  describeConnections(async (behaviour) => {
    const port = await freePort();
    const { id, sandboxId } = await run(`exec ${BUSYBOX} nc -ll -p ${port} -e ${PROGRAMS[behaviour]}`);
    const hex = port.toString(16).padStart(4, '0');
    const listening = `until grep -qi ":${hex} [0-9A-F:]* 0A" /proc/net/tcp /proc/net/tcp6; do sleep 0.05; done`;
    await runtime().run(id, { command: shell(listening), timeoutMs: 10_000, maxBytes: 1000 });
    return runtime().portForward(sandboxId, port);
  }, lacks);
}

/** Collects the output of a stream. */
function collected(stream: Readable): { text(): string; readonly ended: Promise<unknown> } {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  return { text: () => Buffer.concat(chunks).toString(), ended: once(stream, 'end') };
}
