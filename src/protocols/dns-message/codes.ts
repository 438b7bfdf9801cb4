/** Numbers of the DNS protocol that this server interprets. */

export const RecordType = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  DNAME: 39,
  OPT: 41,
  /** The first meta type: types from here on ask for more than one type, or for the zone. */
  FIRST_META: 128,
  ANY: 255,
} as const;

export const RecordClass = { IN: 1 } as const;

export const ResponseCode = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  /** An extended code: its upper bits are in the OPT record. */
  BADVERS: 16,
} as const;

/** Bits of the second word of a header. */
export const Flag = {
  RESPONSE: 0x8000,
  AUTHORITATIVE: 0x0400,
  TRUNCATED: 0x0200,
  RECURSION_DESIRED: 0x0100,
  RECURSION_AVAILABLE: 0x0080,
  AUTHENTIC_DATA: 0x0020,
  CHECKING_DISABLED: 0x0010,
} as const;

export const OPCODE_MASK = 0x7800;
export const HEADER_BYTES = 12;
