/** `qd store migrate`: copies a store, checks the copy, and puts it in charge by replacing one file. */
import { Cleanup } from '../../../assembly/cleanup.ts';
import { moveMemberAside } from '../../../assembly/etcd/member.ts';
import { systemRandom } from '../../../base/random.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { storeDriver } from '../../../store/drivers.ts';
import { copyStore } from '../../../store/migration/copy-store.ts';
import { directoryOf } from '../../clusters/choice.ts';
import { readLastStart } from '../../clusters/last-start.ts';
import { CliError } from '../../output/cli-error.ts';
import { createLogger } from '../../output/logger.ts';
import { explainDamage } from '../../output/store-damage.ts';
import { withCluster } from '../../process/cluster-process.ts';
import { untilStopSignal } from '../../process/signals.ts';
import { rememberedIn, rememberIn } from '../../up/directory/directory.ts';
import type { MigrateFlags } from './flags.ts';
import { locationOf, type MigrationPlan, planMigration, settingsIn } from './plan.ts';
import { openSource, prepareTarget, type Side } from './sides.ts';

export async function migrate(flags: MigrateFlags): Promise<void> {
  const { to: target } = flags;
  const directory = await directoryOf(flags);
  if (target === undefined) throw new CliError('--to says where the objects are moved: --to etcd or --to embedded');
  await withCluster(directory, async (pid) => {
    const remembered = await rememberedIn(directory);
    if (Object.keys(remembered).length === 0) {
      throw new CliError(`${directory} is not the data directory of a cluster; choose one with --name or --data-dir`);
    }
    const name = (await readLastStart(directory))?.name ?? flags.name ?? 'quarterdeck';
    const given = settingsIn(flags);
    const plan = planMigration({ given, target, remembered, name, directory });
    if (pid !== undefined) {
      const { moveRunning } = await import('./running.ts');
      return moveRunning(directory, pid, { target, given });
    }
    await stoppable((cleanup, stop) => move(plan, directory, { cleanup, stop }));
  });
}

interface Running {
  readonly cleanup: Cleanup;
  /** Aborted when the program is told to stop. */
  readonly stop: AbortSignal;
}

async function move({ from, to }: MigrationPlan, directory: string, { cleanup, stop }: Running): Promise<void> {
  const tools = { clock: systemClock, random: systemRandom, log: createLogger('warn') };
  const side = (settings: MigrationPlan['from']): Side => ({
    ...tools,
    settings,
    driver: storeDriver(settings.store!),
    directory,
    cleanup,
    path: process.env.PATH ?? '',
  });
  const [source, target] = [side(from), side(to)];
  const { store: original, checkAlone } = await openSource(source);
  const context = { directory, clock: tools.clock, log: tools.log };
  const prepared = await prepareTarget(target);
  try {
    const { store, count, revision } = await copyStore({
      original,
      begin: (base) => target.driver.beginCopy!(to as never, context, base),
      pause: async () => undefined, // Nobody writes.
      clock: tools.clock,
      signal: stop,
    }).catch(explainDamage);
    await store.close();
    print(`Copied ${count} objects from ${locationOf(from)} to ${locationOf(to)}, at revision ${revision}.`);
    checkAlone();
    // What runs must have ended before the other store is in charge.
    await cleanup.run();
    stop.throwIfAborted();
  } catch (error) {
    await cleanup.run();
    await prepared.discard();
    throw error;
  }
  await rememberIn(directory, to);
  const kept = from.ha
    ? await moveMemberAside(directory, tools.clock)
    : await source.driver.retire?.(from as never, context);
  print(`The next qd up uses ${locationOf(to)}.${kept === undefined ? '' : ` The old store is kept in ${kept}.`}`);
}

/**
 * Ends what was started also when the program is told to stop. The work fails then, unless it has put the new store in charge
 * already.
 */
async function stoppable(work: (cleanup: Cleanup, stop: AbortSignal) => Promise<void>): Promise<void> {
  const cleanup = new Cleanup();
  const stopping = new AbortController();
  untilStopSignal(systemClock).then((signal) => {
    stopping.abort(new CliError(`stopped by ${signal}; the cluster is as it was`));
    return cleanup.run().catch(() => undefined); // The work fails with it.
  });
  try {
    await work(cleanup, stopping.signal);
  } catch (error) {
    throw stopping.signal.aborted ? stopping.signal.reason : error;
  } finally {
    await cleanup.run();
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
