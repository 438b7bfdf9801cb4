/** RPC over a connection, one JSON object per line: numbered requests, responses with the same number, and events. */
import type { Socket } from 'node:net';
import { onLines } from './lines.ts';

/** Methods by name: each takes one object. */
export type CallTable<T> = { readonly [M in keyof T]: (params: never) => Promise<unknown> };
type Params<T, M extends keyof T> = T[M] extends (params: infer P) => unknown ? P : never;
type Result<T, M extends keyof T> = T[M] extends (params: never) => Promise<infer R> ? R : never;

interface Request {
  readonly id: number;
  readonly method: string;
  readonly params: unknown;
}

interface Failure {
  readonly message: string;
  readonly code: string | undefined;
}

type Message =
  | { readonly type: 'answer'; readonly id: number; readonly result?: unknown; readonly error?: Failure }
  | { readonly type: 'event'; readonly event: unknown };

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** The calling end of a connection. */
export class Caller<T extends CallTable<T>> {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, Waiting>();
  #count = 0;
  #isOpen = true;

  /** `onClose` is called when the connection is lost, not when it is closed by this end. */
  constructor(socket: Socket, onEvent: (event: unknown) => void, onClose: () => void) {
    this.#socket = socket;
    onLines(socket, (value) => {
      const message = value as Message;
      if (message.type === 'event') onEvent(message.event);
      else this.#answered(message);
    });
    socket.on('error', () => undefined);
    socket.on('end', () => socket.destroy());
    socket.on('close', () => {
      const wasOpen = this.#isOpen;
      this.#isOpen = false;
      for (const { reject } of this.#waiting.values()) reject(lost());
      this.#waiting.clear();
      if (wasOpen) onClose();
    });
  }

  call<M extends keyof T & string>(method: M, params: Params<T, M>): Promise<Result<T, M>> {
    if (!this.#isOpen) return Promise.reject(lost());
    const id = ++this.#count;
    const request: Request = { id, method, params };
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: (result) => resolve(result as Result<T, M>), reject });
      this.#socket.write(`${JSON.stringify(request)}\n`);
    });
  }

  /** Rejects the pending calls. */
  close(): void {
    this.#isOpen = false;
    this.#socket.destroy();
  }

  #answered({ id, result, error }: Message & { type: 'answer' }): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error) waiting?.reject(Object.assign(new Error(error.message), { code: error.code }));
    else waiting?.resolve(result);
  }
}

/** Serves the calls of the other end, started in order of arrival. Returns a function that sends an event. */
export function answerCalls<T extends CallTable<T>>(socket: Socket, calls: T): (event: unknown) => void {
  const send = (message: Message) => {
    if (!socket.destroyed) socket.write(`${JSON.stringify(message)}\n`);
  };
  onLines(socket, (value) => {
    const { id, method, params } = value as Request;
    const call = Object.hasOwn(calls, method)
      ? (calls[method as keyof T] as unknown as (params: unknown) => unknown)
      : undefined;
    const work = async () => {
      if (!call) throw new Error(`there is no call ${method}`);
      return call(params);
    };
    work().then(
      (result) => send({ type: 'answer', id, result }),
      ({ message, code }: NodeJS.ErrnoException) => send({ type: 'answer', id, error: { message, code } }),
    );
  });
  return (event) => send({ type: 'event', event });
}

const lost = () => new Error('the connection was lost');
