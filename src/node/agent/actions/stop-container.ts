/** Runs the preStop hook of a container and stops it, all within the grace period. */
import { sleep } from '../../../base/time/clock.ts';
import type { Action, ActionOutcome } from '../../pod/plan/action.ts';
import { hookOf, runHook } from '../../probes/hook.ts';
import { containerNamed, type SpecContainer } from './containers.ts';
import { type ActionContext, addressesOf, isOnNodeNetwork, probedPod, type Subject } from './context.ts';

type PreStop = Extract<Action, { readonly type: 'pre-stop' }>;
type StopContainer = Extract<Action, { readonly type: 'stop-container' }>;

/** Time that a container has to end after a hook that has used up the grace period. */
const MIN_GRACE_SECONDS = 2;
/** How long the end of a container waits for Services. */
const MAX_DRAIN_MS = 5_000;

/** `signal` is aborted when the container is stopped again, with a shorter grace period: its hook is not waited for. */
export async function stopContainer(
  context: ActionContext,
  subject: Subject,
  { action, signal }: { readonly action: StopContainer; readonly signal: AbortSignal },
): Promise<ActionOutcome> {
  const { runtime, clock } = context;
  const { id, graceSeconds } = action;
  const startedAt = clock.now();
  const spec = containerNamed(subject.pod, action.container);
  const hasHook =
    graceSeconds > 0 && !action.isHookDone && spec !== undefined && hookOf(spec.container, 'preStop') !== undefined;
  const drained = graceSeconds > 0 ? drain(context, subject, { graceSeconds, signal }) : undefined;
  if (hasHook) await preStop(context, subject, { spec, id, timeoutMs: graceSeconds * 1_000, signal });
  await drained;
  // Another stop has taken over.
  if (signal.aborted) return { type: 'done' };
  const used = Math.ceil((clock.now() - startedAt) / 1_000);
  const left = hasHook ? Math.max(MIN_GRACE_SECONDS, graceSeconds - used) : graceSeconds;
  await runtime.stopContainer(id, left);
  return { type: 'done' };
}

/** Runs the preStop hook of a container that is stopped later. `signal` is aborted when it is stopped although its hook runs. */
export async function runPreStop(
  context: ActionContext,
  subject: Subject,
  { action, signal }: { readonly action: PreStop; readonly signal: AbortSignal },
): Promise<ActionOutcome> {
  const { container, id, graceSeconds } = action;
  const spec = containerNamed(subject.pod, container);
  if (spec) await preStop(context, subject, { spec, id, timeoutMs: graceSeconds * 1_000, signal });
  return { type: 'done' };
}

/**
 * A program that is told to end may refuse connections at once, so that those which Services send until they know are lost. A pod
 * that is deleted waits for them, which takes some milliseconds.
 */
async function drain(
  { network, clock, node }: ActionContext,
  subject: Subject,
  { graceSeconds, signal }: { readonly graceSeconds: number; readonly signal: AbortSignal },
): Promise<void> {
  if (!subject.pod.metadata.deletionTimestamp || isOnNodeNetwork(subject.pod, node())) return;
  const end = new AbortController();
  const abort = () => end.abort(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  const isLate = sleep(clock, Math.min(MAX_DRAIN_MS, graceSeconds * 500), end.signal);
  isLate.catch(() => undefined);
  try {
    await Promise.race([network.untilDrained(addressesOf(subject, node()), end.signal), isLate]);
  } catch {
    // A failed drain does not keep a container from being stopped.
  } finally {
    signal.removeEventListener('abort', abort);
    end.abort(new Error('the container is stopped'));
  }
}

interface Hooked {
  readonly spec: SpecContainer;
  readonly id: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** A hook that fails is reported, and is no reason not to stop the container. */
async function preStop(context: ActionContext, subject: Subject, hooked: Hooked): Promise<void> {
  const { spec, id, timeoutMs, signal } = hooked;
  const hook = hookOf(spec.container, 'preStop');
  if (!hook) return;
  const { runtime, clock, userAgent } = context;
  const end = new AbortController();
  const abort = () => end.abort(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    const probed = probedPod(context, subject);
    const options = { runtime, clock, userAgent, id, ...probed, container: spec.container, timeoutMs };
    const isOver = sleep(clock, timeoutMs, end.signal).then(() => 'late' as const);
    isOver.catch(() => undefined);
    await Promise.race([runHook(hook, { ...options, signal: end.signal }), isOver]);
  } catch {
    if (signal.aborted) return;
    const { name } = spec.container;
    const about = { container: { name, role: spec.role } };
    subject.emit({ type: 'Warning', reason: 'FailedPreStopHook', message: 'PreStopHook failed', ...about });
  } finally {
    end.abort();
    signal.removeEventListener('abort', abort);
  }
}
