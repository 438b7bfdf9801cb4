/** Drives a peer: a program in a network namespace that serves and asks. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export type Protocol = 'tcp' | 'udp';

interface Request {
  readonly protocol: Protocol;
  readonly address: string;
  readonly port: number;
  /** Timeout in milliseconds. */
  readonly timeout?: number;
  readonly localPort?: number;
  readonly localAddress?: string;
}

export class Peer {
  readonly name: string;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
  #last = 0;

  /** `enter`: a command that runs another one in the namespace. */
  constructor(name: string, enter: readonly string[] = [], folder = import.meta.dirname) {
    this.name = name;
    const [program = '', ...args] = [...enter, process.execPath, join(folder, 'peer.mjs'), name];
    this.#child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    createInterface({ input: this.#child.stdout! }).on('line', (line) => {
      const { id, result, error } = JSON.parse(line) as { id: number; result: never; error?: string };
      const waiter = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error === undefined) waiter?.resolve(result);
      else waiter?.reject(new Error(error));
    });
  }

  /** Serves TCP and UDP. Resolves with the port. */
  listen(port = 0, host?: string): Promise<number> {
    return this.#call('listen', { port, host });
  }

  unlisten(port: number): Promise<void> {
    return this.#call('unlisten', { port });
  }

  /** Resolves with the name of the server and the address that it saw; rejects with a code such as ECONNREFUSED, or `timeout`. */
  request(request: Request): Promise<string> {
    return this.#call('request', request);
  }

  /** Sends one UDP packet, also to a broadcast address. Nothing is expected back. */
  send(address: string, port: number): Promise<void> {
    return this.#call('send', { address, port });
  }

  /** Opens a conversation that stays open. */
  open(key: string, request: Request): Promise<string> {
    return this.#call('open', { key, ...request });
  }

  /** Says something in a conversation, and resolves with the answer. */
  say(key: string, text: string, timeout?: number): Promise<string> {
    return this.#call('say', { key, text, timeout });
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.stdin!.end();
    await once(this.#child, 'exit');
  }

  #call<T>(call: string, args: object): Promise<T> {
    const id = ++this.#last;
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as (value: never) => void, reject });
      this.#child.stdin!.write(`${JSON.stringify({ id, call, ...args })}\n`);
    });
  }
}
