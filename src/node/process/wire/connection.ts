/** The agent's side of the connection to a keeper. */
import type { Socket } from 'node:net';
import { connectWithKey } from '../../../base/sockets/keyed-socket/keyed-socket.ts';
import { onLines } from '../../../base/sockets/keyed-socket/lines.ts';
import { RuntimeError } from '../../runtime/errors.ts';
import { type KeeperCalls, keeperSocket, type Message, type Opening, type StreamName } from './calls.ts';

interface Waiting {
  resolve(result: unknown): void;
  reject(error: RuntimeError): void;
}

type Params<M extends keyof KeeperCalls> = Parameters<KeeperCalls[M]>[0];
type Result<M extends keyof KeeperCalls> = Awaited<ReturnType<KeeperCalls[M]>>;

export class KeeperConnection {
  readonly #directory: string;
  readonly #socket: Socket;
  readonly #waiting = new Map<number, Waiting>();
  readonly #streams = new Map<string, Waiting>();
  readonly #onChange: (sandboxId: string | undefined) => void;
  #count = 0;
  #isClosed = false;

  /** Resolves when the connection stands. `onClose` is called when it is lost, not when it was closed here. */
  static async open(
    directory: string,
    onChange: (sandboxId: string | undefined) => void,
    onClose: () => unknown,
  ): Promise<KeeperConnection> {
    const socket = await connectTo(directory, { type: 'control' });
    return new KeeperConnection(directory, socket, onChange, onClose);
  }

  private constructor(
    directory: string,
    socket: Socket,
    onChange: (sandboxId: string | undefined) => void,
    onClose: () => unknown,
  ) {
    this.#directory = directory;
    this.#socket = socket;
    this.#onChange = onChange;
    onLines(socket, (value) => this.#receive(value as Message));
    socket.on('error', () => undefined);
    socket.on('end', () => socket.destroy());
    socket.on('close', () => {
      const error = new RuntimeError('Unavailable', 'the connection to the keeper of containers was lost');
      for (const waiting of [...this.#waiting.values(), ...this.#streams.values()]) waiting.reject(error);
      this.#waiting.clear();
      this.#streams.clear();
      if (!this.#isClosed) onClose();
      this.#isClosed = true;
    });
  }

  call<M extends keyof KeeperCalls>(method: M, params: Params<M>): Promise<Result<M>> {
    if (this.#isClosed)
      return Promise.reject(new RuntimeError('Unavailable', 'the keeper of containers is not running'));
    const id = ++this.#count;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: (result) => resolve(result as Result<M>), reject });
      this.#socket.write(`${JSON.stringify({ id, method, params })}\n`);
    });
  }

  /** Opens the connection of one stream of exec, attach or port-forward. */
  async stream(stream: string, name: StreamName): Promise<Socket> {
    return connectTo(this.#directory, { type: 'stream', stream, name });
  }

  /** Resolves with the exit code when the stream has ended. */
  ended(stream: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#streams.set(stream, { resolve: (code) => resolve(code as number), reject });
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#socket.destroy();
  }

  #receive(message: Message): void {
    switch (message.type) {
      case 'answer': {
        const waiting = this.#waiting.get(message.id);
        this.#waiting.delete(message.id);
        if (message.error) waiting?.reject(new RuntimeError(message.error.code, message.error.message));
        else waiting?.resolve(message.result);
        return;
      }
      case 'changed':
        this.#onChange(message.sandboxId);
        return;
      case 'ended': {
        const waiting = this.#streams.get(message.stream);
        this.#streams.delete(message.stream);
        if (message.error) waiting?.reject(new RuntimeError(message.error.code, message.error.message));
        else waiting?.resolve(message.exitCode ?? 0);
      }
    }
  }
}

function connectTo(directory: string, opening: Opening): Promise<Socket> {
  return connectWithKey(keeperSocket(directory), opening).catch((error: Error) => {
    throw new RuntimeError('Unavailable', 'the keeper of containers does not answer', { cause: error });
  });
}
