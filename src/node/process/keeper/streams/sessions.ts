/** The streams of exec, attach and port-forward, from the processes to the connections of the agent. */
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import type { TerminalSize } from '../../../../base/programs/process-streams.ts';
import { RuntimeError } from '../../../runtime/errors.ts';
import type { AttachRequest, ExecRequest } from '../../../runtime/runtime.ts';
import type { KeeperContext } from '../context.ts';
import type { Engine } from '../engine.ts';
import type { Command } from '../executor.ts';
import { dialLoopback } from './dial.ts';
import { readingTurns } from './fifo.ts';
import type { StreamHub } from './stream-hub.ts';

/** How long output that a command's children hold open is waited for. */
const DRAIN_TIMEOUT_MS = 1_000;
/** How long a command whose client has left may take to end. */
const CLOSE_TIMEOUT_MS = 1_000;

export type Ended = (stream: string, result: { exitCode: number } | { error: RuntimeError }) => void;

/** An output on its way to the agent. */
interface HandedOn {
  /** Resolves when the agent's connection reads it, or nobody will. */
  readonly begun: Promise<void>;
  /** Resolves when everything was handed on. */
  readonly done: Promise<void>;
}

interface Session {
  close(): void;
  resize(size: TerminalSize): void;
}

/** The streams that one control connection has opened. They end with it. */
export class Sessions {
  readonly #open = new Map<string, Session>();

  constructor(
    private readonly context: KeeperContext,
    private readonly engine: Engine,
    private readonly hub: StreamHub,
    private readonly ended: Ended,
  ) {}

  async exec(stream: string, id: string, request: ExecRequest): Promise<void> {
    const command = await this.#start(stream, id, request);
    this.#open.set(stream, {
      // It sees the end of its input first, so that it may end by itself.
      close: () => {
        for (const pipe of [command.stdin, command.stdout, command.stderr]) pipe?.destroy();
        const timer = this.context.clock.timer(CLOSE_TIMEOUT_MS, () => command.kill());
        void command.exitCode.then(() => timer.cancel());
      },
      resize: ({ columns, rows }) => command.resize(columns, rows),
    });
    if (command.stdin) this.#toInput(stream, command.stdin);
    const outputs = [this.#fromOutput(stream, 'stdout', command), this.#fromOutput(stream, 'stderr', command)];
    void this.#finish(stream, command, outputs);
  }

  #start(stream: string, id: string, request: ExecRequest): Promise<Command> {
    const { command, stdin, stdout, tty, size } = request;
    const directory = join(this.context.directory, 'streams', stream);
    const streams = { stdin, stdout, stderr: request.stderr && !tty };
    return this.context.executor.exec(this.engine.runningContainer(id), {
      command,
      directory,
      tty,
      size,
      ...streams,
    });
  }

  #toInput(stream: string, input: Writable): void {
    this.hub.take(stream, 'stdin', (socket) => {
      socket.on('error', () => undefined);
      socket.pipe(input, { end: false });
      socket.once('end', () => input.write(Buffer.alloc(0), () => input.destroy()));
      socket.once('close', () => input.destroy());
      input.once('close', () => socket.destroy());
    });
  }

  #fromOutput(stream: string, name: 'stdout' | 'stderr', command: Command): HandedOn {
    const output = command[name];
    if (!output) return { begun: Promise.resolve(), done: Promise.resolve() };
    const done = new Promise<void>((resolve) => void output.once('close', resolve));
    const taken = new Promise<void>((resolve) => {
      this.hub.take(stream, name, (socket) => {
        socket.on('error', () => undefined);
        socket.resume();
        output.pipe(socket);
        output.once('close', () => socket.end());
        socket.once('close', () => output.destroy());
        resolve();
      });
    });
    return { begun: Promise.race([taken, done]), done };
  }

  async #finish(stream: string, command: Command, outputs: readonly HandedOn[]): Promise<void> {
    const exitCode = await command.exitCode;
    // On a busy machine, the connection of the agent may come after the end of the command.
    await Promise.all(outputs.map(({ begun }) => begun));
    const timer = this.context.clock.timer(DRAIN_TIMEOUT_MS, () => void leaveRest(command));
    await Promise.all(outputs.map(({ done }) => done));
    timer.cancel();
    command.stdin?.destroy();
    this.#end(stream, { exitCode });
  }

  /** Resolves when the client is attached: its input goes to the container after its outputs are connected. */
  async attach(stream: string, id: string, request: AttachRequest): Promise<void> {
    const container = this.engine.container(id);
    const { output } = container;
    if (!output) throw new RuntimeError('NotFound', `container ${id} is not running`);
    const names = (['stdout', 'stderr', 'stdin'] as const).filter(
      (name) => request[name] && !(request.tty && name === 'stderr'),
    );
    const sockets = await Promise.all(names.map((name) => this.hub.taken(stream, name)));
    // As with containerd: a client whose input has ended leaves a container that goes on to read.
    const leave = () => {
      for (const socket of sockets) socket.end();
      this.#end(stream, { exitCode: 0 });
    };
    for (const [i, socket] of sockets.entries()) {
      const name = names[i]!;
      socket.on('error', () => undefined);
      if (name === 'stdin') output.attachInput(socket, leave);
      else {
        socket.resume();
        output.attach(name, socket);
      }
    }
    if (request.size) container.resize(request.size.columns, request.size.rows);
    this.#open.set(stream, {
      close: () => {
        for (const socket of sockets) socket.destroy();
        this.#end(stream, { exitCode: 0 });
      },
      resize: ({ columns, rows }) => container.resize(columns, rows),
    });
    // As with CRI: attaching has succeeded, however the container ended.
    void container.ended().then(() => this.#end(stream, { exitCode: 0 }));
  }

  async portForward(stream: string, sandboxId: string, port: number): Promise<void> {
    const { nsenter } = this.context.machine.programs;
    const remote = await dialLoopback(port, nsenter, this.engine.networkOf(sandboxId));
    this.#open.set(stream, { close: () => remote.destroy(), resize: () => undefined });
    // The agent closes a connection that has failed: closed here, it would look complete.
    remote.on('error', ({ message }) => this.#end(stream, { error: new RuntimeError('Unknown', message) }));
    this.hub.take(stream, 'data', (socket) => {
      socket.on('error', () => undefined);
      // Each direction ends by itself: pipe hands the end of one on as the end of the other.
      socket.pipe(remote);
      remote.pipe(socket);
      socket.once('close', () => {
        remote.destroy();
        this.#end(stream, { exitCode: 0 });
      });
      remote.once('close', () => {
        if (!remote.errored) socket.end();
      });
    });
  }

  resize(stream: string, size: TerminalSize): void {
    this.#open.get(stream)?.resize(size);
  }

  close(stream: string): void {
    this.#open.get(stream)?.close();
    this.hub.drop(stream);
  }

  closeAll(): void {
    for (const stream of [...this.#open.keys()]) this.close(stream);
  }

  #end(stream: string, result: Parameters<Ended>[1]): void {
    if (!this.#open.delete(stream)) return;
    this.ended(stream, result);
  }
}

/** Closes outputs that others hold open. On a busy machine, the timer runs before what the command has printed was read. */
async function leaveRest({ stdout, stderr }: Command): Promise<void> {
  await readingTurns();
  // Someone who does not read holds it up: what is left is theirs to read or to leave.
  for (const output of [stdout, stderr]) if (output?.isPaused() === false) output.destroy();
}
