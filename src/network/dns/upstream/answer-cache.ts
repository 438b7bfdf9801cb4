/** Remembers the answers of upstream servers, for as long as their records say and within bounds. */
import { BoundedMap } from '../../../base/collections/bounded-map.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { RecordType, ResponseCode } from '../../../protocols/dns-message/codes.ts';
import type { Sections } from '../../../protocols/dns-message/message.ts';
import { negativeTtl, type ResourceRecord } from '../../../protocols/dns-message/record.ts';

export interface UpstreamAnswer extends Sections {
  readonly code: number;
  readonly isAuthentic: boolean;
}

interface Entry {
  readonly answer: UpstreamAnswer;
  readonly storedAt: number;
  readonly lifeMs: number;
}

const MAX_BYTES = 8 * 1024 * 1024;
const MAX_POSITIVE_SECONDS = 300;
const MAX_NEGATIVE_SECONDS = 30;
/** Memory of a record besides its name and data. */
const RECORD_BYTES = 150;

export class AnswerCache {
  readonly #entries = new BoundedMap<Entry>({
    maxBytes: MAX_BYTES,
    bytesOf: ({ answer: { answers, authorities, additionals } }) =>
      [answers, authorities, additionals].reduce((sum, records) => sum + bytesOf(records), RECORD_BYTES),
  });

  constructor(private readonly clock: Clock) {}

  get size(): number {
    return this.#entries.size;
  }

  /** Returns the answer with the remaining lifetimes; undefined when there is none or it is too old. */
  get(key: string): UpstreamAnswer | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    const age = this.clock.now() - entry.storedAt;
    if (age >= entry.lifeMs || age < 0) {
      this.#entries.delete(key);
      return undefined;
    }
    const { answer } = entry;
    const seconds = Math.floor(age / 1_000);
    if (seconds === 0) return answer;
    const aged = (records: readonly ResourceRecord[]) =>
      records.map((record) => ({ ...record, ttl: Math.max(0, record.ttl - seconds) }));
    return {
      ...answer,
      answers: aged(answer.answers),
      authorities: aged(answer.authorities),
      additionals: aged(answer.additionals),
    };
  }

  put(key: string, answer: UpstreamAnswer): void {
    const lifeMs = lifeSeconds(answer) * 1_000;
    if (lifeMs > 0) this.#entries.set(key, { answer, storedAt: this.clock.now(), lifeMs });
  }
}

/**
 * Returns the lifetime of an answer. Failures are not remembered. Negative answers live as long as their SOA record
 * says (RFC 2308).
 */
function lifeSeconds({ code, answers, authorities }: UpstreamAnswer): number {
  if (code !== ResponseCode.NOERROR && code !== ResponseCode.NXDOMAIN) return 0;
  if (answers.length > 0 && code === ResponseCode.NOERROR) {
    return answers.reduce((least, { ttl }) => Math.min(least, ttl), MAX_POSITIVE_SECONDS);
  }
  const soa = authorities.find(({ type }) => type === RecordType.SOA);
  const life = answers.reduce((least, { ttl }) => Math.min(least, ttl), MAX_NEGATIVE_SECONDS);
  return soa ? Math.min(life, negativeTtl(soa)) : 0;
}

function bytesOf(records: readonly ResourceRecord[]): number {
  return records.reduce((sum, { name, data }) => sum + name.length * 2 + data.length + RECORD_BYTES, 0);
}
