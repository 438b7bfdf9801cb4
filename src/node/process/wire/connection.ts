/** The agent's side of the connection to a keeper. */
import type { Socket } from 'node:net';
import { Caller } from '../../../base/sockets/keyed-socket/calls.ts';
import { connectWithKey } from '../../../base/sockets/keyed-socket/keyed-socket.ts';
import { RuntimeError, type RuntimeErrorCode } from '../../runtime/errors.ts';
import { type KeeperCalls, type KeeperEvent, keeperSocket, type Opening, type StreamName } from './calls.ts';

interface Waiting {
  resolve(exitCode: number): void;
  reject(error: RuntimeError): void;
}

type Params<M extends keyof KeeperCalls> = Parameters<KeeperCalls[M]>[0];
type Result<M extends keyof KeeperCalls> = Awaited<ReturnType<KeeperCalls[M]>>;

export class KeeperConnection {
  readonly #caller: Caller<KeeperCalls>;
  readonly #streams = new Map<string, Waiting>();

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
    private readonly directory: string,
    socket: Socket,
    onChange: (sandboxId: string | undefined) => void,
    onClose: () => unknown,
  ) {
    const onEvent = (event: unknown) => {
      const known = event as KeeperEvent;
      if (known.type === 'changed') onChange(known.sandboxId);
      else this.#ended(known);
    };
    this.#caller = new Caller(socket, onEvent, onClose);
    socket.on('close', () => {
      for (const { reject } of this.#streams.values()) reject(lost());
      this.#streams.clear();
    });
  }

  async call<M extends keyof KeeperCalls>(method: M, params: Params<M>): Promise<Result<M>> {
    try {
      return (await this.#caller.call(method, params as never)) as Result<M>;
    } catch (error) {
      const { code, message } = error as Error & { readonly code?: RuntimeErrorCode };
      throw code === undefined ? lost() : new RuntimeError(code, message);
    }
  }

  /** Opens the connection of one stream of exec, attach or port-forward. */
  async stream(stream: string, name: StreamName): Promise<Socket> {
    return connectTo(this.directory, { type: 'stream', stream, name });
  }

  /** Resolves with the exit code when the stream has ended. */
  ended(stream: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#streams.set(stream, { resolve, reject });
    });
  }

  close(): void {
    this.#caller.close();
  }

  #ended({ stream, exitCode = 0, error }: KeeperEvent & { type: 'ended' }): void {
    const waiting = this.#streams.get(stream);
    this.#streams.delete(stream);
    if (error) waiting?.reject(new RuntimeError(error.code, error.message));
    else waiting?.resolve(exitCode);
  }
}

const lost = () => new RuntimeError('Unavailable', 'the connection to the keeper of containers was lost');

function connectTo(directory: string, opening: Opening): Promise<Socket> {
  return connectWithKey(keeperSocket(directory), opening).catch((error: Error) => {
    throw new RuntimeError('Unavailable', 'the keeper of containers does not answer', { cause: error });
  });
}
