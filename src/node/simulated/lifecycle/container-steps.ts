/** How one container goes on: it waits for its image, runs, becomes ready, ends, and perhaps is started again. */
import type { Random } from '../../../base/random.ts';
import { mayRestart } from '../../../kinds/shapes/container/restart.ts';
import type { Ended, SeenPod } from '../../pod/container-run.ts';
import { containerOf } from '../../pod/phase.ts';
import type { Ending } from '../rules/rules.ts';
import { draw, inWords } from '../rules/span.ts';
import { crashDelay } from './back-off.ts';
import { containerIdOf } from './ids.ts';
import { fetchImage, haveImage, lacksImage } from './images.ts';
import type { Life, SimulatedRun } from './life.ts';
import { messageFromLog } from './logs.ts';
import { becomeReady, falter, foreseeProbes } from './probes.ts';

export interface Circumstances {
  readonly now: number;
  readonly random: Random;
  /** The pod's own, or the node's for one on its network; undefined when there is none left. */
  readonly takeAddress: (pod: SeenPod) => string | undefined;
  /** Told of what an agent makes events of. */
  readonly tell: (life: Life, happening: Happening) => void;
}

export type Happening =
  | { readonly type: 'noAddress' | 'deadline' }
  | { readonly type: 'probeFailed'; readonly probe: 'Liveness' | 'Readiness'; readonly run: SimulatedRun }
  /** `took`: how long it was fetched, in milliseconds; undefined when it was there. */
  | { readonly type: 'pulled'; readonly took: number | undefined; readonly run: SimulatedRun }
  | {
      readonly type:
        | 'pulling'
        | 'pullFailed'
        | 'neverPulled'
        | 'invalidImage'
        | 'pullBackOff'
        | 'created'
        | 'started'
        | 'backOff'
        | 'killing'
        | 'changed';
      readonly run: SimulatedRun;
    };

/** It is a container's turn: its image is fetched, if it has not begun with that. */
export function takeTurn(life: Life, run: SimulatedRun, world: Circumstances): boolean {
  if (run.state.type === 'ended') return restart(life, run, world.now);
  if (run.state.type !== 'waiting' || run.startsAt !== undefined) return false;
  fetchImage(life, run, world);
  return true;
}

/** What is due of one container. */
export function goOn(life: Life, run: SimulatedRun, world: Circumstances): boolean {
  const { now } = world;
  switch (run.state.type) {
    case 'waiting':
      if (run.startsAt === undefined || now < run.startsAt) return false;
      return begin(life, run, world);
    case 'running':
      if (isDue(run.endsAt, now)) return endByRule(life, run, world);
      if (isDue(run.killedAt, now)) return kill(life, run, world);
      if (isDue(run.faltersAt, now)) return falter(life, run, world);
      return isDue(run.readyAt, now) && becomeReady(life, run, world);
    case 'ended':
      return false;
  }
}

const isDue = (time: number | undefined, now: number) => time !== undefined && now >= time;

/** What is ahead of a container that runs. One that ran when the program started is given it then. */
export function foresee(life: Life, run: SimulatedRun, world: Circumstances): void {
  const { now, random } = world;
  run.isForeseen = true;
  foreseeProbes(life, run, world);
  if (run.state.type !== 'running') return;
  if (!run.ready && run.role !== 'init') run.readyAt = now + draw(life.stages.ready, random);
  const ending = endingOf(life, run);
  if (ending) run.endsAt = Math.max(now, run.state.since + draw(ending.takes, random));
}

function begin(life: Life, run: SimulatedRun, world: Circumstances): boolean {
  const { now, tell } = world;
  const isAgain = run.last !== undefined;
  if (lacksImage(life, run, world)) return true;
  haveImage(life, run, world);
  if (isAgain) run.restarts++;
  const id = containerIdOf(life.pod.metadata.uid ?? '', life.runs.indexOf(run), run.restarts);
  run.state = { type: 'running', since: now, id };
  run.startsAt = undefined;
  foresee(life, run, world);
  tell(life, { type: 'created', run });
  tell(life, { type: 'started', run });
  return true;
}

/** How this container ends by itself; undefined: it runs on. */
function endingOf({ stages }: Life, run: SimulatedRun): Ending | undefined {
  const ending = run.role === 'init' ? stages.init : run.role === 'ephemeral' ? undefined : stages.run;
  const isMeant = !ending?.containers || ending.containers.includes(run.name);
  // A sidecar goes on unless it is named.
  if (run.role === 'sidecar' && !ending?.containers) return undefined;
  if (ending && isMeant && (ending.times === undefined || run.restarts < ending.times)) return ending;
  return run.role === 'init' ? { takes: stages.init.takes, exitCode: 0 } : undefined;
}

function endByRule(life: Life, run: SimulatedRun, world: Circumstances): boolean {
  const { exitCode = 0, reason, message } = endingOf(life, run) ?? {};
  return endOrRestart(life, run, { ...world, exitCode, reason, message });
}

/** It failed its liveness probe, and does not end when it is asked to. */
function kill(life: Life, run: SimulatedRun, world: Circumstances): boolean {
  world.tell(life, { type: 'probeFailed', probe: 'Liveness', run });
  return endOrRestart(life, run, { ...world, exitCode: 137 });
}

function endOrRestart(life: Life, run: SimulatedRun, { now, tell, ...how }: End & Circumstances): boolean {
  const ended = end(life, run, { now, ...how });
  if (!ended || !canRestart(life, run, how.exitCode)) return true;
  const delay = crashDelay(run, now - (ended.startedAt ?? now));
  if (delay === 0) return true;
  const { name, namespace, uid } = life.pod.metadata;
  run.last = ended;
  run.startsAt = now + delay;
  run.state = {
    type: 'waiting',
    reason: 'CrashLoopBackOff',
    message: `back-off ${inWords(delay)} restarting failed container=${run.name} pod=${name}_${namespace}(${uid})`,
  };
  tell(life, { type: 'backOff', run });
  return true;
}

/** One that ended and is to run again at once. */
function restart(life: Life, run: SimulatedRun, now: number): boolean {
  const { state } = run;
  if (state.type !== 'ended' || !canRestart(life, run, state.exitCode)) return false;
  run.last = state;
  run.state = { type: 'waiting', reason: run.role === 'main' ? 'ContainerCreating' : 'PodInitializing' };
  run.startsAt = now;
  return true;
}

/** Init containers are done when they went well, whatever the policy. */
function canRestart({ pod, stopsAt }: Life, run: SimulatedRun, exitCode: number): boolean {
  if (stopsAt !== undefined || run.role === 'ephemeral' || (run.role === 'init' && exitCode === 0)) return false;
  return mayRestart(containerOf(pod, run), pod.spec, exitCode);
}

interface End {
  readonly now: number;
  readonly exitCode: number;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
}

/** Ends it, and says how; undefined when it did not run. */
export function end(life: Life, run: SimulatedRun, how: End): Ended | undefined {
  const { now, exitCode, reason, message } = how;
  if (run.state.type !== 'running') return undefined;
  const ended: Ended = {
    exitCode,
    reason: reason ?? (exitCode === 0 ? 'Completed' : 'Error'),
    message: message ?? (exitCode === 0 ? undefined : messageFromLog(life, run, now)),
    startedAt: run.state.since,
    finishedAt: now,
    id: run.state.id,
  };
  run.state = { type: 'ended', ...ended };
  run.ready = false;
  run.readyAt = undefined;
  run.endsAt = undefined;
  run.killedAt = undefined;
  run.faltersAt = undefined;
  return ended;
}
