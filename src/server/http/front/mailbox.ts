/** Carries words to another thread and back: several in one parcel, because a parcel costs more than a word. */

/** One end of a channel between threads. */
export interface Port {
  postMessage(value: unknown, transfer: readonly ArrayBuffer[]): void;
  on(event: 'message', listener: (value: unknown) => void): unknown;
}

interface Parcel<Word> {
  readonly words: readonly Word[];
  /** What belongs to the words, one piece behind the other. */
  readonly bytes: Uint8Array;
  /** Pieces in memory that both threads see, by their place among all pieces. */
  readonly shared: ReadonlyMap<number, Uint8Array> | undefined;
}

/** The next piece, which has so many bytes. */
export type Take = (length: number) => Buffer;

/**
 * A parcel leaves when the turn of the event loop ends, or when it has so many words: with fewer parcels both threads would
 * do less, but with so few the other one waits for all requests of a turn before it begins with the first.
 */
const MOST_WORDS = 8;

const NOTHING = Buffer.alloc(0);

export class Mailbox<Out, In> {
  readonly #port: Port;
  #words: Out[] = [];
  #pieces: Uint8Array[] = [];
  #shared: Map<number, Uint8Array> | undefined;
  #count = 0;
  #size = 0;
  #isLeaving = false;

  constructor(port: Port) {
    this.#port = port;
  }

  /** What was said last and has not left. */
  get last(): Out | undefined {
    return this.#words.at(-1);
  }

  /** Says a word, with the bytes that are its own. They must not change until the turn ends; shared ones never. */
  say(word: Out, bytes?: Uint8Array): void {
    this.#words.push(word);
    if (bytes) this.#add(bytes);
    if (this.#words.length >= MOST_WORDS) this.#send();
    else if (!this.#isLeaving) {
      this.#isLeaving = true;
      setImmediate(() => {
        this.#isLeaving = false;
        if (this.#words.length > 0) this.#send();
      });
    }
  }

  /** Hands over what comes, word by word. Whoever listens takes the bytes of every word, wanted or not. */
  hear(listener: (word: In, take: Take) => void): void {
    this.#port.on('message', (parcel) => {
      const { words, bytes, shared } = parcel as Parcel<In>;
      let offset = 0;
      let count = 0;
      const take = (length: number) => {
        const piece = shared?.get(count++);
        if (piece) return Buffer.from(piece.buffer, piece.byteOffset, length);
        offset += length;
        return Buffer.from(bytes.buffer, bytes.byteOffset + offset - length, length);
      };
      for (const word of words) listener(word, take);
    });
  }

  #add(bytes: Uint8Array): void {
    const place = this.#count++;
    if (bytes.buffer instanceof SharedArrayBuffer) {
      this.#shared ??= new Map();
      this.#shared.set(place, bytes);
      return;
    }
    this.#pieces.push(bytes);
    this.#size += bytes.length;
  }

  #send(): void {
    const bytes = this.#packed();
    const parcel: Parcel<Out> = { words: this.#words, bytes, shared: this.#shared };
    this.#words = [];
    this.#shared = undefined;
    this.#count = 0;
    this.#port.postMessage(parcel, bytes === NOTHING ? [] : [bytes.buffer]);
  }

  /** Not of Node's pool, whose memory cannot be given away. */
  #packed(): Buffer<ArrayBuffer> {
    if (this.#size === 0) return NOTHING;
    const all = Buffer.allocUnsafeSlow(this.#size);
    let offset = 0;
    for (const piece of this.#pieces) {
      all.set(piece, offset);
      offset += piece.length;
    }
    this.#pieces = [];
    this.#size = 0;
    return all;
  }
}
