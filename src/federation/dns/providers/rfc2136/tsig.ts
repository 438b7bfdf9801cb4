/** Signatures of DNS messages with a shared key (RFC 8945). Pure: the time is passed in. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { nameBytes } from '../../../../protocols/dns-message/name.ts';
import { DnsError } from '../../provider.ts';
import { type Reply, TSIG_TYPE } from './reply.ts';

/** Digests by the names of their algorithms. */
const DIGESTS: Readonly<Record<string, string>> = {
  'hmac-md5.sig-alg.reg.int': 'md5',
  'hmac-sha1': 'sha1',
  'hmac-sha224': 'sha224',
  'hmac-sha256': 'sha256',
  'hmac-sha384': 'sha384',
  'hmac-sha512': 'sha512',
};

export const TSIG_ALGORITHMS = ['hmac-md5', ...Object.keys(DIGESTS).filter((name) => !name.startsWith('hmac-md5'))];

export interface TsigKey {
  /** Name without a dot at its end. */
  readonly name: string;
  readonly algorithm: string;
  readonly secret: Buffer;
}

const CLASS_ANY = 255;
/** Tolerated difference between the clocks of the two sides. */
const FUDGE_SECONDS = 300;
const ADDITIONALS = 10;

/** Errors that a server puts into its signature (RFC 8945, section 3). */
const ERRORS: Readonly<Record<number, string>> = {
  16: 'the server does not accept the signature (BADSIG): is the secret right?',
  17: 'the server does not know the key (BADKEY)',
  18: 'the clock of the server differs too much (BADTIME)',
  22: 'the server does not accept the truncated signature (BADTRUNC)',
};

/** Returns the message with a signature, and the signature alone. */
export function signed(message: Buffer, key: TsigKey, nowMs: number): { message: Buffer; mac: Buffer } {
  const fullName = algorithmName(key.algorithm);
  const name = nameBytes(key.name);
  const algorithm = nameBytes(fullName);
  const time = signTime(Math.floor(nowMs / 1000), FUDGE_SECONDS);
  const variables = Buffer.concat([name, u16(CLASS_ANY), u32(0), algorithm, time, u16(0), u16(0)]);
  const mac = digest(key, [message, variables]);
  const data = Buffer.concat([algorithm, time, sized(mac), message.subarray(0, 2), u16(0), u16(0)]);
  const record = Buffer.concat([name, u16(TSIG_TYPE), u16(CLASS_ANY), u32(0), sized(data)]);
  const out = Buffer.concat([message, record]);
  out.writeUInt16BE(message.readUInt16BE(ADDITIONALS) + 1, ADDITIONALS);
  return { message: out, mac };
}

/** Checks the signatures of the messages that answer one request, in order. */
export class TsigVerifier {
  readonly #key: TsigKey;
  #prior: Buffer;
  /** Messages since the last signature. */
  #pending: Buffer[] = [];
  #isFirst = true;

  constructor(key: TsigKey, requestMac: Buffer) {
    this.#key = key;
    this.#prior = requestMac;
  }

  /** True when everything so far is covered by a signature. */
  get isComplete(): boolean {
    return this.#pending.length === 0 && !this.#isFirst;
  }

  /** Adds a message. Throws a DnsError when it has a wrong signature, or is the first one and has none. */
  add(message: Buffer, { tsig }: Pick<Reply, 'tsig'>, nowMs: number): void {
    if (!tsig) {
      if (this.#isFirst) throw new DnsError('Forbidden', 'the response of the server is not signed');
      this.#pending.push(message);
      return;
    }
    const error = ERRORS[tsig.error];
    if (tsig.error !== 0)
      throw new DnsError('Forbidden', error ?? `the server reports the signature error ${tsig.error}`);
    const unsigned = Buffer.from(message.subarray(0, tsig.start));
    unsigned.writeUInt16BE(tsig.originalId, 0);
    unsigned.writeUInt16BE(message.readUInt16BE(ADDITIONALS) - 1, ADDITIONALS);
    const time = signTime(tsig.timeSeconds, tsig.fudgeSeconds);
    const variables = this.#isFirst
      ? [
          ...[nameBytes(tsig.keyName), u16(CLASS_ANY), u32(0), nameBytes(tsig.algorithm), time],
          ...[u16(tsig.error), sized(tsig.other)],
        ]
      : [time];
    const expected = digest(this.#key, [sized(this.#prior), ...this.#pending, unsigned, ...variables]);
    const isRight =
      tsig.keyName === this.#key.name &&
      tsig.algorithm === algorithmName(this.#key.algorithm) &&
      tsig.mac.length === expected.length &&
      timingSafeEqual(tsig.mac, expected);
    if (!isRight) throw new DnsError('Forbidden', 'the response of the server has a wrong signature');
    if (Math.abs(nowMs / 1000 - tsig.timeSeconds) > tsig.fudgeSeconds) {
      throw new DnsError('Forbidden', 'the signature of the response is too old: do the clocks differ?');
    }
    this.#prior = tsig.mac;
    this.#pending = [];
    this.#isFirst = false;
  }
}

function digest({ algorithm, secret }: TsigKey, parts: readonly Buffer[]): Buffer {
  const hmac = createHmac(DIGESTS[algorithmName(algorithm)]!, secret);
  for (const part of parts) hmac.update(part);
  return hmac.digest();
}

/** The oldest algorithm has a longer name on the wire. */
function algorithmName(algorithm: string): string {
  return algorithm === 'hmac-md5' ? 'hmac-md5.sig-alg.reg.int' : algorithm;
}

/** The time of the signature in 48 bits, and how far the clocks may differ. */
function signTime(seconds: number, fudgeSeconds: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUIntBE(seconds, 0, 6);
  bytes.writeUInt16BE(fudgeSeconds, 6);
  return bytes;
}

/** The bytes with their length before them. */
function sized(bytes: Buffer): Buffer {
  return Buffer.concat([u16(bytes.length), bytes]);
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
