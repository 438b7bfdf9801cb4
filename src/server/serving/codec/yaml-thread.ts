/** Decodes large YAML texts in a separate thread: composing a document cannot be interrupted. Messages are plain. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { MessagePort } from 'node:worker_threads';
import { ApiError } from '../../../api/errors.ts';
import { free, makeMovable } from '../../../base/bytes/shared-buffer.ts';
import type { Clock, Timer } from '../../../base/time/clock.ts';
import { DecodeError } from './decode-error.ts';
import { decodeJson } from './json.ts';
import { decodeDocument, notConverted, type YamlLimits } from './yaml.ts';

interface ToThread extends Pick<YamlLimits, 'maxDepth' | 'maxBodyBytes'> {
  readonly text: string;
  readonly reportsDuplicates: boolean;
  readonly reportsRepeatedKeys: boolean;
}

type FromThread =
  | {
      readonly type: 'decoded';
      readonly json: Uint8Array;
      readonly duplicates: readonly string[] | undefined;
      readonly repeatedKeys: readonly string[] | undefined;
    }
  | { readonly type: 'rejected'; readonly message: string; readonly redacted: string };

/** Limit for lexemes: at the limit, the most expensive documents (empty lists in a list) take 125 MB. */
const MAX_LEXEMES_IN_THREAD = 250_000;
/** Heap limit of the thread, with a margin: V8 may abort the process if a thread exceeds its limit. */
export const MAX_THREAD_HEAP_MB = 192;

/** Limit for the growth from YAML to JSON: control characters take six times as much, and it is parsed at once. */
const MAX_EXPANSION = 2;

export function serveYamlThread(port: MessagePort): void {
  port.on('message', (message: ToThread) => {
    void answer(message).then((reply) => {
      port.postMessage(reply, reply.type === 'decoded' ? [reply.json.buffer as ArrayBuffer] : []);
    });
  });
}

async function answer({ text, reportsDuplicates, reportsRepeatedKeys, ...limits }: ToThread): Promise<FromThread> {
  let duplicates: readonly string[] | undefined;
  let repeatedKeys: readonly string[] | undefined;
  const onDuplicates = (paths: readonly string[]) => {
    duplicates = paths;
  };
  const onRepeatedKeys = (faults: readonly string[]) => {
    repeatedKeys = faults;
  };
  try {
    const reports = {
      onDuplicates: reportsDuplicates ? onDuplicates : undefined,
      onRepeatedKeys: reportsRepeatedKeys ? onRepeatedKeys : undefined,
    };
    const value = await decodeDocument(text, { ...limits, ...reports }, MAX_LEXEMES_IN_THREAD);
    const json = new TextEncoder().encode(JSON.stringify(value));
    if (json.length > MAX_EXPANSION * limits.maxBodyBytes) {
      throw notConverted({ message: 'yaml: document is too large as JSON' });
    }
    return { type: 'decoded', json, duplicates, repeatedKeys };
  } catch (error) {
    const { message, redacted } = error as DecodeError;
    return { type: 'rejected', message, redacted };
  }
}

/** The thread from the point of view of its owner. */
export interface YamlWorker {
  postMessage(message: ToThread): void;
  on(event: 'message', listener: (message: FromThread) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'exit', listener: () => void): unknown;
  terminate(): Promise<unknown>;
}

interface YamlThreadOptions {
  start(): YamlWorker;
  readonly clock: Clock;
}

const MAX_DECODING_MS = 10_000;
/** Time without work after which the thread ends. */
const MAX_IDLE_MS = 10_000;
/** Limit for the length of texts that wait or are being decoded: ten of the largest bodies. */
const MAX_WAITING_LENGTH = 32 * 1024 * 1024;
/** Timeout: half of that of a request, so that some time is left for the rest. */
const MAX_WAITING_MS = 30_000;

/** Starts the thread with the first text, and again after it has ended. It decodes one text at a time. */
export class YamlThread {
  #worker: YamlWorker | undefined;
  #settle: { resolve(answer: FromThread): void; reject(error: Error): void } | undefined;
  #idle: Timer | undefined;
  #waitingLength = 0;
  /** Settles with the last text. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: YamlThreadOptions) {}

  /** Decodes a text. Rejects with a DecodeError as in this thread, and with TooManyRequests when the queue is full. */
  async decode(text: string, limits: YamlLimits): Promise<unknown> {
    const { maxDepth, maxBodyBytes, onDuplicates, onRepeatedKeys } = limits;
    const answer = await this.#inLine({
      text,
      maxDepth,
      maxBodyBytes,
      reportsDuplicates: onDuplicates !== undefined,
      reportsRepeatedKeys: onRepeatedKeys !== undefined,
    });
    if (answer.type === 'rejected') throw new DecodeError(answer.message, undefined, answer.redacted);
    const { json, duplicates, repeatedKeys } = answer;
    const bytes = makeMovable(Buffer.from(json.buffer, json.byteOffset, json.byteLength));
    const value = decodeJson(bytes, maxDepth);
    free(bytes);
    if (duplicates) onDuplicates?.(duplicates);
    if (repeatedKeys) onRepeatedKeys?.(repeatedKeys);
    await nextTurn();
    return value;
  }

  async close(): Promise<void> {
    await this.#end();
  }

  async #inLine(message: ToThread): Promise<FromThread> {
    const { length } = message.text;
    if (this.#waitingLength + length > MAX_WAITING_LENGTH) throw tooMuchWaits();
    this.#waitingLength += length;
    const { clock } = this.options;
    const since = clock.now();
    const answered = this.#last.then(() => {
      if (clock.now() - since > MAX_WAITING_MS) throw tooMuchWaits();
      return this.#ask(message);
    });
    this.#last = answered.catch(() => {});
    try {
      return await answered;
    } finally {
      this.#waitingLength -= length;
    }
  }

  async #ask(message: ToThread): Promise<FromThread> {
    const { clock } = this.options;
    this.#idle?.cancel();
    this.#worker ??= this.#start();
    const worker = this.#worker;
    const deadline = clock.timer(MAX_DECODING_MS, () => {
      this.#settle?.reject(notConverted({ message: 'yaml: document takes too long to decode: send it as JSON' }));
      void this.#end();
    });
    try {
      return await new Promise<FromThread>((resolve, reject) => {
        this.#settle = { resolve, reject };
        worker.postMessage(message);
      });
    } finally {
      deadline.cancel();
      this.#settle = undefined;
      this.#idle = clock.timer(MAX_IDLE_MS, () => void this.#end());
    }
  }

  #start(): YamlWorker {
    const worker = this.options.start();
    const ended = (error: Error) => {
      // A terminated thread has been replaced.
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      this.#settle?.reject(isOutOfMemory(error) ? tooLarge(error) : error);
    };
    worker.on('message', (answer) => this.#settle?.resolve(answer));
    worker.on('error', ended);
    worker.on('exit', () => ended(new Error('the thread that decodes YAML has ended')));
    return worker;
  }

  async #end(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    this.#settle?.reject(new Error('the thread that decodes YAML was ended'));
    await worker?.terminate();
  }
}

const isOutOfMemory = (error: NodeJS.ErrnoException) => error.code === 'ERR_WORKER_OUT_OF_MEMORY';

const tooLarge = (cause: Error) =>
  notConverted({ message: 'yaml: document takes too much memory to decode: send it as JSON' }, cause);

const tooMuchWaits = () =>
  new ApiError('TooManyRequests', 'too many large YAML bodies, please try again later or send JSON', {
    details: { retryAfterSeconds: 1 },
  });
