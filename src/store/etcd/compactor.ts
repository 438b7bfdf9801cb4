import type { Logger } from '../../base/log.ts';
import type { Clock, Timer } from '../../base/time/clock.ts';
import type { Connection } from './connection.ts';
import { COMPACTION_KEY } from './keyspace.ts';
import { CompareTarget } from './messages.ts';
import { methods } from './methods.ts';

export interface CompactorOptions {
  readonly connection: Pick<Connection, 'call'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly intervalMilliseconds: number;
  compact(revision: number): Promise<void>;
}

/**
 * Compacts revisions older than an interval, once per interval. Several servers on one etcd take turns: each knows the
 * version of the compaction key, and the one that updates it by compare-and-set compacts.
 */
export class Compactor {
  #timer: Timer | undefined;
  /** The last seen version of the key. */
  #version = 0;
  /** The newest revision one interval ago. */
  #revision = 0;

  constructor(private readonly options: CompactorOptions) {}

  start(): void {
    const { clock, log, intervalMilliseconds } = this.options;
    this.#timer = clock.timer(intervalMilliseconds, () => {
      this.start();
      this.#run().catch((error) => log.warn('etcd could not be compacted; the next interval will', { error }));
    });
  }

  stop(): void {
    this.#timer?.cancel();
  }

  async #run(): Promise<void> {
    const { connection, compact } = this.options;
    const key = Buffer.from(COMPACTION_KEY);
    const oldest = this.#revision;
    const { header, succeeded, responses } = await connection.call(methods.txn, {
      compare: [{ target: CompareTarget.VERSION, key, version: this.#version }],
      success: [{ put: { key, value: Buffer.from(String(oldest)) } }],
      failure: [{ range: { key } }],
    });
    this.#revision = header.revision;
    if (!succeeded) {
      this.#version = responses[0]?.range?.kvs[0]?.version ?? 0;
      return;
    }
    this.#version++;
    if (oldest > 0) await compact(oldest);
  }
}
