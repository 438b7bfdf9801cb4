/** Turns the bytes of a query into the bytes of its response. Knows no sockets. */
import { Flag, HEADER_BYTES, RecordClass, RecordType, ResponseCode } from '../../../protocols/dns-message/codes.ts';
import { type Query, readQuery } from '../../../protocols/dns-message/message.ts';
import { type MessageParts, writeFormatError, writeMessage } from '../../../protocols/dns-message/write.ts';
import type { Forwarder, Lookup, LookupResult } from '../upstream/forwarder.ts';
import type { Authority, ZoneAnswer } from '../zone/authority.ts';
import type { DnsCounters } from './metrics.ts';

export interface ResolverOptions {
  /** Returns the authority; undefined until the zone is complete: queries for its names fail, and clients ask again. */
  readonly authority: () => Authority | undefined;
  /** Reports whether a name belongs to the cluster, also while the zone is not complete. */
  readonly isOwnName: (name: string) => boolean;
  readonly forwarder: Pick<Forwarder, 'lookup' | 'remembered'>;
  /** Reports whether a client may ask. */
  readonly isAllowed: (client: string) => boolean;
  readonly counters: DnsCounters;
}

/** Answer to a query; `undefined` means no response. */
type Answer = Buffer | undefined | Promise<Buffer | undefined>;

type Sections = Pick<MessageParts, 'code' | 'answers' | 'authorities' | 'additionals'> & { readonly flags: number };

const MIN_UDP_BYTES = 512;
/** Maximum size of datagrams: larger ones may be fragmented on their way (and get lost, or be forged). */
const MAX_UDP_BYTES = 1_232;
const MAX_TCP_BYTES = 65_535;

export class Resolver {
  /** Counts answers of the zone, so that each starts with another of the records. */
  #turn = 0;

  constructor(private readonly options: ResolverOptions) {}

  /** Answers a message; never throws or rejects. Messages that cannot be answered have no response. */
  respond(message: Buffer, client: string, transport: 'udp' | 'tcp'): Answer {
    const { counters, isAllowed } = this.options;
    counters.queries++;
    // A response is never answered: two servers could keep each other busy.
    if (message.length < HEADER_BYTES || (message[2]! & 0x80) !== 0) {
      counters.malformed++;
      return undefined;
    }
    let query: Query;
    try {
      query = readQuery(message);
    } catch {
      counters.malformed++;
      return writeFormatError(message.readUInt16BE(0), message.readUInt16BE(2) & Flag.RECURSION_DESIRED);
    }
    const maxBytes = maxBytesFor(query, transport);
    const write = (sections: Sections) => this.#write(query, sections, maxBytes);
    if (!isAllowed(client)) return write(only(ResponseCode.REFUSED));
    if (query.opcode !== 0) return write(only(ResponseCode.NOTIMP));
    if (query.edns && query.edns.version !== 0) return write(only(ResponseCode.BADVERS));
    const { type, class: itsClass } = query.question;
    const isZoneTransfer = type >= RecordType.FIRST_META && type < RecordType.ANY;
    if (itsClass !== RecordClass.IN || isZoneTransfer || type === RecordType.OPT) {
      return write(only(ResponseCode.REFUSED));
    }
    return this.#answer(query, { client, maxBytes }, write);
  }

  #answer(
    query: Query,
    { client, maxBytes }: { readonly client: string; readonly maxBytes: number },
    write: (sections: Sections) => Buffer,
  ): Answer {
    const { authority: current, isOwnName, counters } = this.options;
    const authority = current();
    if (!authority && isOwnName(query.question.name)) return write(only(ResponseCode.SERVFAIL));
    const own = authority?.answer(query.question, { turn: this.#turn++, maxBytes });
    if (own && own.alias === undefined) {
      counters.own++;
      const { code, answers, authorities, additionals } = own;
      return write({ code, flags: Flag.AUTHORITATIVE, answers, authorities, additionals });
    }
    const lookup = lookupFor(query, client, own?.alias);
    const known = this.options.forwarder.remembered(lookup);
    if (known) {
      counters.remembered++;
      return write(forwarded(query, known, own));
    }
    counters.forwarded++;
    return this.options.forwarder.lookup(lookup).then((result) => write(forwarded(query, result, own)));
  }

  #write(query: Query, sections: Sections, maxBytes: number): Buffer {
    const { id, edns, question, questionBytes } = query;
    const { code, answers, authorities, additionals } = sections;
    const copied = query.flags & (Flag.RECURSION_DESIRED | Flag.CHECKING_DISABLED);
    // Field by field: V8 is slow with objects that are spread and extended.
    const parts: MessageParts = {
      id,
      questionBytes,
      questionName: question.name,
      flags: Flag.RESPONSE | Flag.RECURSION_AVAILABLE | copied | sections.flags,
      code,
      answers,
      authorities,
      additionals,
      edns: edns && { udpSize: MAX_UDP_BYTES, dnssecOk: edns.wantsDnssec },
    };
    this.options.counters.count(code);
    return writeMessage(parts, maxBytes);
  }
}

function maxBytesFor({ edns }: Query, transport: 'udp' | 'tcp'): number {
  if (transport === 'tcp') return MAX_TCP_BYTES;
  return Math.min(Math.max(edns?.udpSize ?? 0, MIN_UDP_BYTES), MAX_UDP_BYTES);
}

function lookupFor({ question, flags, edns }: Query, client: string, alias: string | undefined): Lookup {
  return {
    question: alias === undefined ? question : { ...question, name: alias },
    wantsDnssec: edns?.wantsDnssec === true,
    checkingDisabled: (flags & Flag.CHECKING_DISABLED) !== 0,
    client,
  };
}

/** Returns the response with the answers of upstream servers. `own` has the aliases that led there. */
function forwarded({ flags, edns }: Query, result: LookupResult, own: ZoneAnswer | undefined): Sections {
  const aliases = own?.answers ?? [];
  if (result === 'busy') return only(ResponseCode.SERVFAIL);
  // The alias itself is known, even if no server can resolve its target.
  if (result === 'refused')
    return own ? { ...only(ResponseCode.NOERROR), answers: aliases } : only(ResponseCode.REFUSED);
  const { code, isAuthentic, answers, authorities, additionals } = result;
  const wantsAuthentic = (flags & Flag.AUTHENTIC_DATA) !== 0 || edns?.wantsDnssec === true;
  return {
    code,
    flags: isAuthentic && wantsAuthentic && !own ? Flag.AUTHENTIC_DATA : 0,
    answers: own ? [...aliases, ...answers] : answers,
    authorities,
    additionals,
  };
}

function only(code: number): Sections {
  return { code, flags: 0, answers: [], authorities: [], additionals: [] };
}
