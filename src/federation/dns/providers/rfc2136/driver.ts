/** Provider `rfc2136`: any server that takes dynamic updates, such as BIND, with zone transfers to read its records. */
import { connect, isIPv6 } from 'node:net';
import type { Random } from '../../../../base/random.ts';
import { Flag, RecordType, ResponseCode } from '../../../../protocols/dns-message/codes.ts';
import { framed, MessageFrames } from '../../../../protocols/dns-message/frames.ts';
import { MessageError } from '../../../../protocols/dns-message/message-error.ts';
import { NameReader } from '../../../../protocols/dns-message/name.ts';
import type { ResourceRecord } from '../../../../protocols/dns-message/record.ts';
import { canonicalAddress } from '../../addresses.ts';
import {
  DnsError,
  type DnsProvider,
  type DnsZone,
  type ProviderDriver,
  type RecordChanges,
  type RecordSet,
} from '../../provider.ts';
import { globalSection, required } from '../ini.ts';
import { absoluteName, checkNames, recordSets, zoneSize } from '../zones.ts';
import { type Reply, readReply } from './reply.ts';
import { AXFR, question, TYPE_NUMBERS, updates } from './requests.ts';
import { signed, TSIG_ALGORITHMS, type TsigKey, TsigVerifier } from './tsig.ts';

const KEYS = ['server', 'tsig-key-name', 'tsig-secret', 'tsig-algorithm'];
const DEFAULT_ALGORITHM = 'hmac-sha256';
const DNS_PORT = 53;
const MAX_ID = 65_536;
/** Memory of a record besides its data. */
const RECORD_BYTES = 300;
/** Response codes of updates (RFC 2136, section 2.2). */
const NOTAUTH = 9;
const NOTZONE = 10;
const names = new NameReader();

export const rfc2136: ProviderDriver = {
  open({ config, now, random }): DnsProvider {
    const values = globalSection(config, KEYS);
    const server = addressOf(required(values, 'server'));
    const peer = new Peer({ server, key: keyOf(values), now, random });
    return {
      async zone(name, signal) {
        const { code, flags, answers } = await peer.ask(name, RecordType.SOA, signal);
        const isAuthoritative = (flags & Flag.AUTHORITATIVE) !== 0;
        const hasZone = answers.some((record) => record.type === RecordType.SOA && `${record.name}.` === name);
        if (code === ResponseCode.SERVFAIL)
          throw new DnsError('Unavailable', `the server cannot serve the zone ${name}`);
        return code === ResponseCode.NOERROR && isAuthoritative && hasZone ? new DynamicZone(name, peer) : undefined;
      },
    };
  },
};

function addressOf(text: string): DnsAddress {
  if (isIPv6(text)) return { host: text, port: DNS_PORT };
  const [, bracketed, plain, port = DNS_PORT] = /^(?:\[([^\]]+)\]|([^:[\]\s]+))(?::(\d+))?$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535) {
    throw new DnsError('Invalid', `server: "${text}" is not an address like ns.example.com or 192.0.2.1:53`);
  }
  return { host, port: Number(port) };
}

/** Returns the key; undefined when requests are not signed. */
function keyOf(values: ReadonlyMap<string, string>): TsigKey | undefined {
  const name = values.get('tsig-key-name');
  const text = values.get('tsig-secret');
  if (name === undefined && text === undefined) return undefined;
  const algorithm = (values.get('tsig-algorithm') ?? DEFAULT_ALGORITHM).toLowerCase();
  if (!TSIG_ALGORITHMS.includes(algorithm)) {
    throw new DnsError('Invalid', `tsig-algorithm: "${algorithm}" is unknown; known: ${TSIG_ALGORITHMS.join(', ')}`);
  }
  const secret = required(values, 'tsig-secret');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(secret)) throw new DnsError('Invalid', 'tsig-secret: the value is not base64');
  return {
    name: absoluteName(required(values, 'tsig-key-name')).slice(0, -1),
    algorithm,
    secret: Buffer.from(secret, 'base64'),
  };
}

interface PeerOptions {
  readonly server: DnsAddress;
  readonly key: TsigKey | undefined;
  readonly now: () => number;
  readonly random: Pick<Random, 'int'>;
}

/** The server, and the key that it is asked with. */
class Peer {
  constructor(private readonly options: PeerOptions) {}

  nextId(): number {
    return this.options.random.int(MAX_ID);
  }

  async ask(zone: string, type: number, signal: AbortSignal): Promise<Reply> {
    return this.send(question(this.nextId(), zone, type), signal);
  }

  async send(request: Buffer, signal: AbortSignal): Promise<Reply> {
    let found: Reply | undefined;
    await this.#converse(request, signal, (reply) => {
      found = reply;
      return true;
    });
    return found!;
  }

  /** Returns all records of the zone. The first and the last are its SOA record, which ends the transfer. */
  async transfer(zone: string, signal: AbortSignal): Promise<readonly ResourceRecord[]> {
    const records: ResourceRecord[] = [];
    let ends = 0;
    await this.#converse(question(this.nextId(), zone, AXFR), signal, (reply) => {
      if (reply.code !== ResponseCode.NOERROR) throw refusal(reply.code, `the transfer of the zone ${zone}`);
      for (const record of reply.answers) {
        records.push(record);
        if (record.type === RecordType.SOA) ends++;
      }
      if (records[0]?.type !== RecordType.SOA)
        throw new DnsError('Unavailable', `the transfer of ${zone} is incomplete`);
      return ends > 1;
    });
    return records;
  }

  async #converse(request: Buffer, signal: AbortSignal, receive: (reply: Reply) => boolean): Promise<void> {
    const { server, key, now } = this.options;
    const { message, mac } = key ? signed(request, key, now()) : { message: request, mac: undefined };
    const verifier = key && mac && new TsigVerifier(key, mac);
    const id = request.readUInt16BE(0);
    const size = zoneSize('message');
    await converse(
      server,
      message,
      (bytes) => {
        const reply = readBytes(bytes);
        size(bytes.length + reply.answers.length * RECORD_BYTES);
        if (reply.id !== id || (reply.flags & Flag.RESPONSE) === 0) return false;
        verifier?.add(bytes, reply, now());
        const isLast = receive(reply);
        if (isLast && verifier && !verifier.isComplete) {
          throw new DnsError('Forbidden', 'the end of the response is not signed');
        }
        return isLast;
      },
      signal,
    );
  }
}

function readBytes(bytes: Buffer): Reply {
  try {
    return readReply(bytes);
  } catch (cause) {
    if (!(cause instanceof MessageError)) throw cause;
    throw new DnsError('Unavailable', `the response of the server cannot be read: ${cause.message}`, { cause });
  }
}

function refusal(code: number, what: string): DnsError {
  switch (code) {
    case ResponseCode.REFUSED:
      return new DnsError('Forbidden', `the server refuses ${what}: may the key update and transfer the zone?`);
    case NOTAUTH:
      return new DnsError('Forbidden', `the server refuses ${what}: it does not accept the key, or has no such zone`);
    case NOTZONE:
      return new DnsError('Invalid', `the server refuses ${what}: a name is not in the zone`);
    case ResponseCode.SERVFAIL:
      return new DnsError('Unavailable', `the server fails: ${what}`);
    default:
      return new DnsError('Invalid', `the server refuses ${what} with the response code ${code}`);
  }
}

class DynamicZone implements DnsZone {
  constructor(
    readonly name: string,
    private readonly peer: Peer,
  ) {}

  async list(signal: AbortSignal): Promise<readonly RecordSet[]> {
    const records = (await this.peer.transfer(this.name, signal)).flatMap((record) => {
      const type = TYPES.find((each) => TYPE_NUMBERS[each] === record.type);
      const name = `${record.name}.`;
      if (!type || name === this.name) return [];
      return [{ name, type, ttlSeconds: record.ttl, value: textOf(type, record.data) }];
    });
    return recordSets(records);
  }

  async change(changes: RecordChanges, signal: AbortSignal): Promise<void> {
    checkNames(changes, this.name);
    for (const message of updates(this.name, changes, () => this.peer.nextId())) {
      const { code } = await this.peer.send(message, signal);
      if (code !== ResponseCode.NOERROR) throw refusal(code, `an update of the zone ${this.name}`);
    }
  }
}

const TYPES = ['A', 'AAAA', 'CNAME'] as const;

const ADDRESS_BYTES = { A: 4, AAAA: 16 } as const;

function textOf(type: RecordSet['type'], data: Buffer): string {
  if (type === 'CNAME') return `${names.read(data, 0)}.`;
  if (data.length !== ADDRESS_BYTES[type]) {
    throw new DnsError('Unavailable', `the zone has an ${type} record of ${data.length} bytes`);
  }
  if (type === 'A') return [...data].join('.');
  const groups = Array.from({ length: 8 }, (_, index) => data.readUInt16BE(index * 2).toString(16));
  return canonicalAddress(groups.join(':'))!;
}

interface DnsAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * Sends a request, and passes on each message of the response until `receive` returns true. Rejects with the error of
 * `receive`, with the reason of the signal, or with a DnsError when the connection fails.
 */
function converse(
  { host, port }: DnsAddress,
  request: Buffer,
  receive: (message: Buffer) => boolean,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const socket = connect({ host, port });
    const frames = new MessageFrames();
    const finish = (settle: () => void) => {
      signal.removeEventListener('abort', abort);
      socket.destroy();
      settle();
    };
    const abort = () => finish(() => reject(signal.reason));
    const fail = (cause: Error) =>
      finish(() => reject(new DnsError('Unavailable', `${host}:${port} does not answer: ${cause.message}`, { cause })));
    signal.addEventListener('abort', abort, { once: true });
    socket.on('error', fail);
    socket.on('close', () => fail(new Error('the connection was closed')));
    socket.on('data', (data) => {
      try {
        if (frames.push(data).some(receive)) finish(resolve);
      } catch (error) {
        finish(() => reject(error));
      }
    });
    socket.write(framed(request));
  });
}
