/**
 * How a life goes on: what is due by now happens, in the order in which an agent does things. It decides from the life and
 * the time alone and touches nothing else; chance and a free address are handed in.
 */
import { type Ended, hasStarted, isThrough } from '../../pod/container-run.ts';
import { containerOf, finalPhase, isOver, phaseOf } from '../../pod/phase.ts';
import { draw } from '../rules/span.ts';
import { type Circumstances, end, foresee, goOn, takeTurn } from './container-steps.ts';
import { type Life, runOf, type SimulatedRun } from './life.ts';

const NO_ADDRESS_DELAY = 10_000;

/** Brings the life up to now. Says whether anything about it changed. */
export function advance(life: Life, world: Circumstances): boolean {
  let changed = followSpec(life, world);
  for (const run of life.runs) if (!run.isForeseen) foresee(life, run, world);
  if (isOver(life.phase) && !life.pod.metadata.deletionTimestamp) return changed;
  while (step(life, world)) changed = true;
  return changed;
}

/** When something happens next; undefined: nothing, until somebody changes the pod. */
export function nextDue(life: Life): number | undefined {
  if (life.isGone) return undefined;
  let next = life.stopsAt ?? Number.POSITIVE_INFINITY;
  if (!isOver(life.phase) && life.stopsAt === undefined) {
    if (!life.sandbox) next = Math.min(next, life.sandboxAt);
    const { activeDeadlineSeconds } = life.pod.spec;
    if (activeDeadlineSeconds !== undefined) next = Math.min(next, life.startTime + activeDeadlineSeconds * 1_000);
  }
  if (!isOver(life.phase)) {
    for (const run of life.runs) {
      next = Math.min(next, run.startsAt ?? next, run.readyAt ?? next, run.endsAt ?? next);
      next = Math.min(next, run.killedAt ?? next, run.faltersAt ?? next);
      if (isInTheWay(life, run)) break;
    }
  }
  return next === Number.POSITIVE_INFINITY ? undefined : next;
}

/** One thing that is due; false when nothing is. */
function step(life: Life, world: Circumstances): boolean {
  if (life.isGone) return false;
  if (life.pod.metadata.deletionTimestamp && stop(life, world)) return true;
  if (isOver(life.phase)) return false;
  if (life.stopsAt !== undefined) return life.runs.some((run) => goOn(life, run, world));
  if (isTooLate(life, world.now)) return giveUp(life, world);
  if (!life.sandbox) return settle(life, world);
  return goOnAll(life, world) || conclude(life, world);
}

/** A pod that is being deleted: its containers are asked to end, have a while for it, and then it is gone. */
function stop(life: Life, world: Circumstances): boolean {
  life.askedAt ??= world.now;
  const latest = latestEnd(life, life.askedAt);
  if (life.stopsAt === undefined) {
    const running = life.runs.filter(({ state }) => state.type === 'running');
    for (const run of running) world.tell(life, { type: 'killing', run });
    const wanted = world.now + draw(life.stages.stop, world.random);
    life.stopsAt = running.length === 0 ? world.now : Math.min(wanted, Math.max(world.now, latest));
    for (const run of life.runs) run.startsAt = undefined;
    return true;
  }
  // A grace period can be made shorter while it runs.
  if (life.stopsAt > latest) life.stopsAt = Math.max(world.now, latest);
  if (world.now < life.stopsAt) return false;
  const isKilled = life.stopsAt >= latest;
  endAll(life, world.now, isKilled ? 137 : 143);
  if (!isOver(life.phase)) life.phase = finalPhase(life.runs);
  life.sandbox = false;
  life.isGone = true;
  return true;
}

/**
 * The whole grace period from when the containers were asked; the time of the deletion has whole seconds only, so that the
 * period may be over a second after it at most.
 */
function latestEnd({ pod }: Life, askedAt: number): number {
  const { deletionTimestamp = '', deletionGracePeriodSeconds = 0 } = pod.metadata;
  return Math.min(askedAt + deletionGracePeriodSeconds * 1_000, Date.parse(deletionTimestamp) + 1_000);
}

function isTooLate({ pod, startTime }: Life, now: number): boolean {
  const { activeDeadlineSeconds } = pod.spec;
  return activeDeadlineSeconds !== undefined && now >= startTime + activeDeadlineSeconds * 1_000;
}

function giveUp(life: Life, world: Circumstances): boolean {
  world.tell(life, { type: 'deadline' });
  for (const run of life.runs) if (run.state.type === 'running') world.tell(life, { type: 'killing', run });
  endAll(life, world.now, 137);
  life.phase = 'Failed';
  life.verdict = {
    reason: 'DeadlineExceeded',
    message: 'Pod was active on the node longer than the specified deadline',
  };
  life.sandbox = false;
  return true;
}

function settle(life: Life, { now, takeAddress, tell }: Circumstances): boolean {
  if (now < life.sandboxAt) return false;
  life.address ??= takeAddress(life.pod);
  if (life.address === undefined) {
    tell(life, { type: 'noAddress' });
    life.sandboxAt = now + NO_ADDRESS_DELAY;
    return false;
  }
  life.sandbox = true;
  return true;
}

/** Init containers one by one, then all the others; sidecars and those that somebody put in to look go on throughout. */
function goOnAll(life: Life, world: Circumstances): boolean {
  for (const run of life.runs) {
    if (run.role !== 'init' && run.role !== 'sidecar') continue;
    if (goOn(life, run, world) || takeTurn(life, run, world)) return true;
    if (isInTheWay(life, run)) return false;
  }
  return life.runs.some(
    (run) =>
      (run.role === 'main' || run.role === 'ephemeral') && (goOn(life, run, world) || takeTurn(life, run, world)),
  );
}

/** Whether those behind it have to wait: it prepares them, or a sidecar is down before they have started. */
function isInTheWay({ runs }: Life, run: SimulatedRun): boolean {
  if ((run.role !== 'init' && run.role !== 'sidecar') || isThrough(run)) return false;
  return !runs.some((each) => each.role === 'main' && hasStarted(each));
}

/** All that runs ends; what never ran is not found any more. */
function endAll(life: Life, now: number, exitCode: number): void {
  for (const run of life.runs) {
    run.startsAt = undefined;
    if (run.state.type === 'waiting') run.state = { type: 'ended', ...(run.last ?? neverRan(now)) };
    else end(life, run, { now, exitCode });
  }
}

function neverRan(now: number): Ended {
  return {
    exitCode: 137,
    reason: 'ContainerStatusUnknown',
    message: 'The container could not be located when the pod was terminated',
    finishedAt: now,
    id: '',
  };
}

/** What the containers make of the pod. When the last of them is done, sidecars have nothing to accompany. */
function conclude(life: Life, { now }: Circumstances): boolean {
  const phase = phaseOf(life.pod, life.runs);
  if (phase === life.phase) return false;
  life.phase = phase;
  if (isOver(phase)) {
    for (const run of life.runs) {
      run.startsAt = undefined;
      if (run.state.type === 'waiting' && run.last) run.state = { type: 'ended', ...run.last };
      end(life, run, { now, exitCode: 0 });
    }
    life.sandbox = false;
  }
  return true;
}

/** Images can be changed, and containers to look into a pod be added, while it runs. */
function followSpec(life: Life, world: Circumstances): boolean {
  if (isOver(life.phase) || life.stopsAt !== undefined) return false;
  let changed = false;
  for (const run of life.runs) {
    const wanted = containerOf(life.pod, run).image ?? '';
    if (run.state.type !== 'running' || run.role === 'init' || wanted === run.image || !wanted) continue;
    world.tell(life, { type: 'changed', run });
    run.last = end(life, run, { now: world.now, exitCode: 143 });
    run.state = { type: 'waiting', reason: 'ContainerCreating' };
    run.startsAt = world.now;
    changed = true;
  }
  for (const added of life.pod.spec.ephemeralContainers ?? []) {
    if (life.runs.some(({ role, name }) => role === 'ephemeral' && name === added.name)) continue;
    life.runs.push(runOf(life.pod, added, 'ephemeral'));
    changed = true;
  }
  return changed;
}
