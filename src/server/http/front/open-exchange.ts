/** A request that the other thread works on, and its reply. */
import type { Writable } from 'node:stream';
import { isApiError } from '../../../base/errors.ts';
import { HttpError } from '../errors.ts';
import {
  type EventBytes,
  type EventWriter,
  type Exchange,
  type ExtraHeaders,
  LARGE_REPLY,
} from '../protocol/exchange.ts';
import type { FrontWord } from './protocol.ts';

/** Who hears of it. */
export interface Hearer {
  say(word: FrontWord, bytes?: Uint8Array): void;
  /** It has bytes that wait for its client, and wants to be looked at again. */
  behind(exchange: OpenExchange): void;
  /** No more is heard of it. */
  over(id: number): void;
}

export class OpenExchange {
  #watch: EventWriter | undefined;
  #text: Writable | undefined;
  /** Bytes that were to be written, and how many of them the other thread knows to have left. */
  #written = 0;
  #reported = 0;
  #isOver = false;

  constructor(
    readonly id: number,
    readonly exchange: Exchange,
    private readonly hearer: Hearer,
  ) {}

  /** Hears of its client's end from now on: at once, where that has come already. */
  follow(): void {
    this.exchange.whenGone(() => this.#gone());
  }

  reply(code: number, contentType: string, { body, extra }: { body: Buffer; extra: ExtraHeaders }): void {
    this.exchange.reply(code, contentType, body, extra);
    // A large one is over when it has left: until then the other thread may give the client up.
    if (body.length <= LARGE_REPLY) this.#end();
  }

  watch(extra: ExtraHeaders): void {
    const started = this.exchange.startWatch(extra, () => this.#gone());
    if (!(started instanceof Promise)) {
      this.#watch = started;
      return;
    }
    started.then(
      (watch) => {
        this.#watch = watch;
        this.hearer.say(['started', this.id]);
      },
      () => this.#gone(),
    );
  }

  events(batch: EventBytes, bytes: number): void {
    this.#watch?.events(batch);
    this.#written += bytes;
    this.hearer.behind(this);
  }

  text(contentType: string, extra: ExtraHeaders): void {
    const text = this.exchange.startText(contentType, extra);
    this.#text = text;
  }

  piece(bytes: Buffer): void {
    this.#written += bytes.length;
    const total = this.#written;
    this.#text?.write(bytes, (error) => {
      if (!error) this.hearer.say(['taken', this.id, total]);
    });
  }

  end(): void {
    this.#watch?.end();
    this.#text?.end();
  }

  read(): void {
    this.exchange.body().then(
      (body) => this.hearer.say(['body', this.id, body.length], body),
      (error: unknown) => this.hearer.say(bodyless(this.id, error)),
    );
  }

  /** Tells what has left meanwhile; says whether that was everything. */
  report(): boolean {
    if (!this.#watch || this.#isOver) return true;
    const backlog = this.#watch.backlog();
    const total = this.#written - backlog;
    if (total !== this.#reported) {
      this.#reported = total;
      this.hearer.say(['taken', this.id, total]);
    }
    return backlog === 0;
  }

  #gone(): void {
    if (this.#isOver) return;
    this.hearer.say(['gone', this.id]);
    this.#end();
  }

  #end(): void {
    this.#isOver = true;
    this.hearer.over(this.id);
  }
}

/** Says why a body could not be read. */
export function bodyless(id: number, error: unknown): FrontWord {
  const code = error instanceof HttpError ? error.code : isApiError(error) ? error.toStatus().code : 0;
  return ['bodyless', id, code, error instanceof Error ? error.message : String(error)];
}
