/** `qd upgrade --preview`: starts the new release on a copy of the cluster's store, and reports what would change. */
import { readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { areCompatible } from '../../../../api/release.ts';
import { Cleanup } from '../../../../assembly/cleanup.ts';
import { readClusterRow } from '../../../../assembly/store/releases/cluster-row.ts';
import { systemRandom } from '../../../../base/random.ts';
import { systemClock } from '../../../../base/time/clock.ts';
import { MemoryStore, type StoreImage } from '../../../../store/memory/memory-store.ts';
import { chosenCluster } from '../../../clusters/down.ts';
import { readLastStart } from '../../../clusters/last-start.ts';
import { clustersHome } from '../../../flags/cluster.ts';
import { CliError } from '../../../output/cli-error.ts';
import { findClusterProcess } from '../../../process/cluster-process.ts';
import { freePort } from '../../../process/listen.ts';
import { untilStopSignal } from '../../../process/signals.ts';
import { version as ownVersion } from '../../../process/version.ts';
import { rememberedIn } from '../../directory/directory.ts';
import type { UpgradeFlags } from '../flags.ts';
import { type PackagedRelease, RELEASES, releaseIn } from '../package.ts';
import { startedAs } from '../running.ts';
import { differenceOf } from './compare.ts';
import { type CopyResult, NO_FINDINGS } from './messages.ts';
import { readCopy } from './read-copy.ts';
import { type PreviewReport, reportLines } from './report.ts';
import { runOnCopy } from './run-release.ts';
import { scratchDirectory } from './scratch.ts';

export async function preview(file: string, flags: UpgradeFlags): Promise<void> {
  const { directory, kind, name } = await chosenCluster(flags);
  if (kind !== 'cluster')
    throw new CliError(`${directory} is that of an agent, which has no store to try a release on`);
  const next = await releaseIn(file, join(clustersHome(), RELEASES));
  const cleanup = new Cleanup();
  const stopping = new AbortController();
  void untilStopSignal(systemClock).then((signal) => {
    stopping.abort(new CliError(`stopped by ${signal}. Nothing was changed`));
    return cleanup.run().catch(() => undefined); // The work fails with it.
  });
  try {
    const scratch = await scratchDirectory();
    cleanup.add(() => rm(scratch, { recursive: true, force: true }));
    const report = await reportOn({ directory, name, next, scratch, flags, cleanup, stop: stopping.signal });
    const lines = flags.output === 'json' ? [JSON.stringify(report, undefined, 2)] : reportLines(report);
    process.stdout.write(`${lines.join('\n')}\n`);
    if (!report.works) process.exitCode = 1;
  } catch (error) {
    throw stopping.signal.aborted ? stopping.signal.reason : error;
  } finally {
    await cleanup.run();
  }
}

interface PreviewOptions {
  readonly directory: string;
  readonly name: string;
  readonly next: PackagedRelease;
  /** A private directory, which the caller removes. */
  readonly scratch: string;
  readonly flags: UpgradeFlags;
  readonly cleanup: Cleanup;
  /** Aborted when the program is told to stop. */
  readonly stop: AbortSignal;
}

async function reportOn(options: PreviewOptions): Promise<PreviewReport> {
  const { directory, name, next, scratch, flags, cleanup, stop } = options;
  const last = await readLastStart(directory);
  const holder = await findClusterProcess(directory);
  const running = holder && (await startedAs(holder.pid, 'cluster'));
  const args = running?.args ?? last?.args;
  const image = await readCopy(directory, await rememberedIn(directory), { scratch, cleanup });
  const row = await rowOf(image);
  const port = await freePort('127.0.0.1', systemRandom);
  const run = async (program: string) => {
    stop.throwIfAborted();
    const start = { directory, scratch: join(scratch, 'start'), args: args ?? [], port };
    const header = { ...start, milliseconds: flags.previewTime };
    const result = await runOnCopy({ program, header, image, cwd: running?.cwd ?? directory, cleanup });
    stop.throwIfAborted();
    return result;
  };
  const present = await presentRelease(last?.version, running?.program);
  const measure = present === undefined ? undefined : await run(present);
  const compared = measure && !('failure' in measure) && measure.problem === undefined ? measure : undefined;
  const found = await run(next.program);
  const result: CopyResult = 'failure' in found ? { ...NO_FINDINGS, ...next, problem: found.failure } : found;
  const { changes, alike, unreadable, apis } = differenceOf(result, compared);
  const unreadableCount = Math.max(result.unreadableCount - (compared?.unreadableCount ?? 0), unreadable.length);
  const problem = result.problem ?? tooFar(last?.version, next.version);
  return {
    works: problem === undefined && result.rejectedFlags.length === 0 && unreadableCount === 0,
    cluster: name,
    directory,
    revision: image.revision,
    objects: image.rows.filter(({ key }) => key.startsWith('/registry/')).length,
    from: { version: last?.version, level: row.level },
    to: { version: next.version, level: next.level },
    problem,
    secondsToReady: result.secondsToReady,
    wayBack: { closes: next.level > row.level },
    rejectedFlags: result.rejectedFlags,
    knowsFlags: args !== undefined,
    unreadable,
    unreadableCount,
    otherVersions: result.otherVersions,
    apis,
    seconds: flags.previewTime / 1_000,
    changes,
    moreChanges: result.moreChanges,
    alike: compared && alike,
    notCompared: compared ? undefined : whyNotCompared(last?.version, measure),
    notCalled: result.notCalled,
  };
}

/** The row of the store about the releases that may use it. */
function rowOf(image: StoreImage) {
  return readClusterRow(new MemoryStore({ clock: systemClock, image }));
}

function tooFar(last: string | undefined, next: string): string | undefined {
  if (last === undefined || areCompatible(last, next)) return undefined;
  return `the cluster runs with ${last}, and the package is ${next}: go one minor version at a time`;
}

/** The program of the release that the cluster runs with: the one that runs it, or this one. */
async function presentRelease(version: string | undefined, running: string | undefined): Promise<string | undefined> {
  const own = process.argv[1];
  if (running !== undefined && (await versionOf(running)) === version) return running;
  return version === ownVersion ? own : undefined;
}

async function versionOf(program: string): Promise<string | undefined> {
  const text = await readFile(join(dirname(program), '..', 'package.json'), 'utf8').catch(() => '{}');
  return JSON.parse(text).version;
}

function whyNotCompared(
  version: string | undefined,
  measure: CopyResult | { readonly failure: string } | undefined,
): string {
  if (!measure) return `the cluster ran with ${version ?? 'another release'} last, and this is ${ownVersion}`;
  return 'failure' in measure ? measure.failure : (measure.problem ?? '');
}
