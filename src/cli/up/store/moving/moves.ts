/** Moves the store of the cluster that this process runs. */
import { isDeepStrictEqual } from 'node:util';
import type { ServedAction } from '../../../../api/served-action.ts';
import { Cleanup } from '../../../../assembly/cleanup.ts';
import type { Environment } from '../../../../assembly/context.ts';
import { moveMemberAside } from '../../../../assembly/etcd/member.ts';
import { moveStore } from '../../../../assembly/store/moving/move.ts';
import type { Logger } from '../../../../base/log.ts';
import type { Server } from '../../../../server/index.ts';
import { storeDriver } from '../../../../store/drivers.ts';
import type { MovableStore } from '../../../../store/migration/movable-store.ts';
import { CliError, explain } from '../../../output/cli-error.ts';
import { locationOf, type MigrationPlan, planMigration } from '../../../store/migrate/plan.ts';
import { checkMembers, prepareTarget, type Side } from '../../../store/migrate/sides.ts';
import { rememberedIn, rememberIn } from '../../directory/directory.ts';
import type { Settings } from '../../flags.ts';
import { type Remembered, rememberedOf } from '../../settings/settle.ts';
import { checkLeases, untilAlone } from './alone.ts';
import { CANCEL_MOVE_PATH, MOVE_PATH, type MoveRequest, type MoveStatus, takeRequest } from './request.ts';
import type { Restart } from './restart.ts';

/** The parts of a start that a move needs. */
interface MoveContext extends Environment {
  readonly settings: Settings;
  /** Path of the data directory. */
  readonly directory: string;
}

interface Running {
  readonly context: MoveContext;
  readonly store: MovableStore;
  readonly server: Server;
}

export class Moves {
  readonly #log: Logger;
  #status: MoveStatus = { id: '', phase: 'moved', lines: [] };
  /** Ends the move in progress. */
  #stop: AbortController | undefined;
  #work: Promise<void> | undefined;
  #isReady = false;
  #restart!: (restart: Restart) => void;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** The cluster has started. Resolves when it is to start again. */
  ready(): Promise<Restart> {
    this.#isReady = true;
    if (this.#status.phase === 'restarting') this.#status = { ...this.#status, phase: 'moved' };
    return new Promise((resolve) => {
      this.#restart = resolve;
    });
  }

  /** Resolves when nothing is moved any more; the cluster stops. */
  async close(): Promise<void> {
    this.#isReady = false;
    this.#stop?.abort(new CliError('the cluster stops'));
    await this.#work;
  }

  actions(running: Running): readonly ServedAction[] {
    return [
      { path: MOVE_PATH, perform: async () => this.#take(running) },
      {
        path: CANCEL_MOVE_PATH,
        perform: async () => {
          this.#stop?.abort(new CliError('given up; the cluster goes on with the old store'));
          return this.#status;
        },
      },
    ];
  }

  async #take(running: Running): Promise<MoveStatus> {
    if (!this.#isReady || this.#work) return this.#status;
    const request = await takeRequest(running.context.directory);
    if (request && !this.#work) {
      this.#status = { id: request.id, phase: 'moving', lines: [] };
      const work = this.#move(request, running).finally(() => {
        this.#work = undefined;
      });
      this.#work = work;
    }
    return this.#status;
  }

  async #move(request: MoveRequest, running: Running): Promise<void> {
    const stop = new AbortController();
    this.#stop = stop;
    try {
      await this.#perform(request, running, stop.signal);
    } catch (error) {
      this.#log.warn('the objects were not moved', { error: explain(error) });
      this.#status = { ...this.#status, phase: 'failed', lines: [explain(error)] };
    } finally {
      this.#stop = undefined;
    }
  }

  async #perform({ target: name, given }: MoveRequest, running: Running, signal: AbortSignal): Promise<void> {
    const { context, store, server } = running;
    const { directory, machineClock: clock, log, settings } = context;
    const remembered = await rememberedIn(directory);
    const plan = planMigration({ given, target: name, remembered, name: settings.name, directory });
    const { from, to } = plan;
    const [source, target] = [sideOf(from, context), sideOf(to, context)];
    const { watchHistoryDuration: historyMilliseconds, watchHistoryBytes: historyBytes } = settings;
    const opening = { directory, clock: context.clock, log, historyMilliseconds, historyBytes };
    if (source.driver.shared) {
      await checkMembers(source);
      const say = (line: string) => {
        this.#status = { ...this.#status, lines: [...this.#status.lines, line] };
      };
      await untilAlone(server, { clock, signal, say });
    }
    const prepared = await prepareTarget(target);
    try {
      const { count, revision, pausedMs, former } = await moveStore({
        movable: store,
        begin: (base) => target.driver.beginCopy!(to as never, opening, base),
        checkAlone: () => checkAlone(source, server),
        putInCharge: () => putInCharge(directory, to, log),
        clock,
        log,
        signal,
      });
      log.info('the objects were moved', { count, revision, pausedMs, to: locationOf(to) });
      await former.close();
      const line =
        `Copied ${count} objects from ${locationOf(from)} to ${locationOf(to)}, at revision ${revision}; ` +
        `writes waited for ${pausedMs} ms.`;
      await this.#finish(line, plan, { source, target });
    } catch (error) {
      await target.cleanup.run();
      await prepared.discard();
      throw error;
    }
  }

  /** The copy is in charge: nothing that fails from here on is a failure of the move. */
  async #finish(line: string, { from, to }: MigrationPlan, { source, target }: Sides): Promise<void> {
    const { directory, clock, log } = source;
    const retire = async () =>
      from.ha ? moveMemberAside(directory, clock) : source.driver.retire?.(from as never, { directory, clock });
    const retired = async () => {
      const kept = await retire().catch((error: unknown) => log.warn('the old store stays where it is', { error }));
      return kept === undefined ? [line] : [line, `The old store is kept in ${kept}.`];
    };
    if (!source.driver.shared && !target.driver.shared) {
      this.#status = { ...this.#status, phase: 'moved', lines: await retired() };
      return;
    }
    this.#isReady = false;
    this.#status = { ...this.#status, phase: 'restarting', lines: source.driver.shared ? [line] : await retired() };
    this.#restart({
      runningMember: to.ha ? target.cleanup : undefined,
      afterStop: async () => {
        if (source.driver.shared) this.#status = { ...this.#status, lines: await retired() };
      },
    });
  }
}

interface Sides {
  readonly source: Side;
  readonly target: Side;
}

const sideOf = (settings: Remembered, { directory, path, machineClock: clock, random, log }: MoveContext): Side => ({
  settings,
  driver: storeDriver(settings.store!),
  directory,
  path,
  clock,
  random,
  log,
  cleanup: new Cleanup(),
});

/** Other servers would go on with the old store. */
async function checkAlone({ settings, driver, directory, clock }: Side, server: Server): Promise<void> {
  if (!driver.shared) return;
  await checkMembers({ settings, directory, clock });
  await checkLeases(server);
}

/** After a failure, the file tells which store the next start uses. */
async function putInCharge(directory: string, settings: Remembered, log: Logger): Promise<boolean> {
  try {
    await rememberIn(directory, settings);
    return true;
  } catch (error) {
    log.error('the settings of the cluster could not be replaced durably', { error });
    const { format: _, ...found } = (await rememberedIn(directory)) as Remembered & { format?: number };
    return isDeepStrictEqual(found, JSON.parse(JSON.stringify(rememberedOf(settings))));
  }
}
