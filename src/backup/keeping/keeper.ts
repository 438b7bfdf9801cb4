/** Takes the backups of a cluster: by schedule, and when somebody asks for one. One at a time. */
import type { Logger } from '../../base/log.ts';
import { type Clock, sleep } from '../../base/time/clock.ts';
import type { BackupEnd } from '../file/content.ts';
import { backupName } from '../names.ts';
import { type BackupKind, planRetention, type RetentionPolicy } from '../retention.ts';
import { nextBackup } from '../schedule.ts';
import type { Seal } from '../seal.ts';
import { isOvertaken, type TakeOptions, type Taking } from '../taking/take.ts';
import type { BackupTarget } from '../target.ts';
import { type ClusterBackup, historyStart, listBackups } from './cluster-backups.ts';
import type { BackupReport, FailedBackup, TakenBackup } from './report.ts';

type TakeRequest = Pick<TakeOptions, 'since' | 'share' | 'signal'>;

export interface KeeperOptions {
  readonly cluster: string;
  readonly target: BackupTarget;
  /** Encrypts the files; undefined: they are not encrypted. */
  readonly seal: Seal | undefined;
  readonly policy: RetentionPolicy;
  /** Begins a backup whose history begins at a time. */
  take(request: TakeRequest): Promise<Taking>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Called after each backup. */
  onOutcome?(outcome: TakenBackup | FailedBackup): void;
}

/** Shares of the thread that attempts take, while the store discards the state faster than it is read. */
const SHARES = [0.1, 0.5, 1];
/** The schedule is looked at again after this time: the clock of the machine may have been set. */
const MAX_SLEEP_MS = 15 * 60_000;
const SECOND_MS = 1_000;

export class BackupKeeper {
  readonly #options: KeeperOptions;
  #queue: Promise<unknown> = Promise.resolve();
  #isRunning = false;
  #newest: BackupReport['newest'];
  #last: TakenBackup | undefined;
  #lastFailure: FailedBackup | undefined;
  #failures = 0;
  #taken = 0;
  #failed = 0;

  constructor(options: KeeperOptions) {
    this.#options = options;
  }

  report(): BackupReport {
    return {
      target: this.#options.target.name,
      isRunning: this.#isRunning,
      newest: this.#newest,
      last: this.#last,
      failures: this.#failures,
      lastFailure: this.#lastFailure,
      taken: this.#taken,
      failed: this.#failed,
    };
  }

  /** Learns which backups there are. Rejects when the target cannot be reached. */
  async refresh(signal?: AbortSignal): Promise<readonly ClusterBackup[]> {
    const backups = await listBackups(this.#options.target, this.#options.cluster, signal);
    const newest = backups.at(-1);
    this.#newest = newest && { name: newest.name, time: newest.time, bytes: newest.bytes };
    return backups;
  }

  /** Takes a backup after those that were asked for before. `target`: another one than the usual one. */
  take(kind: BackupKind, signal: AbortSignal, target = this.#options.target): Promise<TakenBackup> {
    const taking = this.#queue.then(() => this.#take(kind, target, signal));
    this.#queue = taking.catch(() => undefined); // The caller gets the error.
    return taking;
  }

  /** Resolves when no backup is taken any more. */
  async idle(): Promise<void> {
    await this.#queue;
  }

  /** Takes backups by schedule until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const since = clock.now();
    const taken: TakenBackup[] = [];
    let found: readonly ClusterBackup[] | undefined;
    while (!signal.aborted) {
      const failures = this.#lastFailure && { count: this.#failures, last: this.#lastFailure.time };
      const { kind, at } = nextBackup({ since, found: found ?? [], taken, failures }, clock.now());
      const left = at - clock.now();
      if (!found && !(failures && left > 0)) {
        found = await this.#listed(signal);
      } else if (left > 0) {
        await sleep(clock, Math.min(left, MAX_SLEEP_MS), signal).catch(() => undefined);
      } else {
        const backup = await this.take(kind, signal).catch(() => undefined); // It was reported.
        if (backup) taken.splice(0, taken.length, ...lastOfEachKind([...taken, backup]));
      }
    }
  }

  async #listed(signal: AbortSignal): Promise<readonly ClusterBackup[] | undefined> {
    try {
      return await this.refresh(signal);
    } catch (error) {
      if (!signal.aborted) this.#fail('hourly', error);
      return undefined;
    }
  }

  async #take(kind: BackupKind, target: BackupTarget, signal: AbortSignal): Promise<TakenBackup> {
    this.#isRunning = true;
    try {
      const taken = await this.#attempt(kind, target, signal);
      this.#succeed(taken);
      await this.#tidyUp(target, signal);
      return taken;
    } catch (error) {
      if (!signal.aborted) this.#fail(kind, error);
      throw error;
    } finally {
      this.#isRunning = false;
    }
  }

  async #attempt(kind: BackupKind, target: BackupTarget, signal: AbortSignal): Promise<TakenBackup> {
    const { clock, log } = this.#options;
    for (const [attempt, share] of SHARES.entries()) {
      try {
        return await this.#write(kind, target, { share, signal });
      } catch (error) {
        if (attempt === SHARES.length - 1 || !isOvertaken(error)) throw error;
        log.info('the store has discarded what was to be saved; the backup begins anew, faster', { share });
        await sleep(clock, SECOND_MS, signal);
      }
    }
    throw new Error('a backup has no attempts');
  }

  async #write(
    kind: BackupKind,
    target: BackupTarget,
    { share, signal }: Omit<TakeRequest, 'since'>,
  ): Promise<TakenBackup> {
    const { cluster, seal, clock } = this.#options;
    const began = clock.now();
    const backups = await listBackups(target, cluster, signal);
    const { about, content } = await this.#options.take({ since: historyStart(backups, kind), share, signal });
    const written = { bytes: 0, end: undefined as BackupEnd | undefined };
    const plain = ending(content, (end) => {
      written.end = end;
    });
    const stored = counted(seal ? seal.sealed(plain) : plain, (bytes) => {
      written.bytes += bytes;
    });
    const name = freeName(backups, { cluster, kind, isSealed: seal !== undefined, time: about.time });
    await target.put(name, stored, signal);
    const { rows = 0, damaged = [] } = written.end ?? {};
    return {
      name,
      target: target.name,
      kind,
      time: about.time,
      revision: about.revision,
      bytes: written.bytes,
      seconds: (clock.now() - began) / SECOND_MS,
      objects: rows,
      damaged: damaged.length,
    };
  }

  #succeed(taken: TakenBackup): void {
    const { log, onOutcome, target } = this.#options;
    this.#last = taken;
    this.#taken++;
    this.#failures = 0;
    this.#lastFailure = undefined;
    if (taken.target === target.name) this.#newest = { name: taken.name, time: taken.time, bytes: taken.bytes };
    log.info('a backup was taken', { ...taken });
    if (taken.damaged > 0)
      log.error('the backup lacks objects that cannot be read', { name: taken.name, count: taken.damaged });
    onOutcome?.(taken);
  }

  #fail(kind: BackupKind, error: unknown): void {
    const { log, clock, onOutcome, target } = this.#options;
    const failure = { kind, time: clock.now(), message: error instanceof Error ? error.message : String(error) };
    this.#failures++;
    this.#failed++;
    this.#lastFailure = failure;
    log.error('a backup failed', { kind, target: target.name, error, failures: this.#failures });
    onOutcome?.(failure);
  }

  /** Removes what the policy does not keep, and what killed programs have left. A failure is no failure of the backup. */
  async #tidyUp(target: BackupTarget, signal: AbortSignal): Promise<void> {
    const { cluster, policy, clock, log } = this.#options;
    try {
      const { remove } = planRetention(await listBackups(target, cluster, signal), clock.now(), policy);
      for (const name of remove) {
        await target.remove(name, signal);
        log.info('an old backup was removed', { name, target: target.name });
      }
      await target.tidy({ signal });
    } catch (error) {
      if (!signal.aborted) log.warn('old backups could not be removed', { target: target.name, error });
    }
  }
}

/** Keeps the first backup, and the last ones: the schedule asks for no others. */
function lastOfEachKind(taken: readonly TakenBackup[]): readonly TakenBackup[] {
  const [daily, last] = [taken.findLast(({ kind }) => kind === 'daily'), taken.at(-1)];
  return taken.filter((each, index) => index === 0 || each === daily || each === last);
}

/** Two backups of one second have different names. */
function freeName(backups: readonly ClusterBackup[], wanted: Parameters<typeof backupName>[0]): string {
  const taken = new Set(backups.map(({ name }) => name));
  for (let time = wanted.time; ; time += SECOND_MS) {
    const name = backupName({ ...wanted, time });
    if (!taken.has(name)) return name;
  }
}

async function* ending(
  content: AsyncGenerator<Uint8Array, BackupEnd>,
  onEnd: (end: BackupEnd) => void,
): AsyncGenerator<Uint8Array> {
  onEnd(yield* content);
}

async function* counted(
  content: AsyncIterable<Uint8Array>,
  count: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) {
    count(chunk.length);
    yield chunk;
  }
}
