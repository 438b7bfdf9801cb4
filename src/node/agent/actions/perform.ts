/** Performs the actions of plans. */
import { removeTree } from '../../../base/files-inside/remove-tree.ts';
import { containerResources, podCgroupResources } from '../../container/resources.ts';
import { podLogDirectory } from '../../container/sandbox.ts';
import { removeLogs } from '../../logs/rotate.ts';
import type { SeenPod } from '../../pod/container-run.ts';
import type { Action, Outcome } from '../../pod/plan/action.ts';
import { containerNamed } from './containers.ts';
import type { ActionContext, Subject } from './context.ts';
import { pullImage } from './pull-image.ts';
import { runSandbox } from './run-sandbox.ts';
import { startContainer } from './start-container.ts';
import { runPreStop, stopContainer } from './stop-container.ts';

/** Never rejects. `signal` is aborted when the action is planned again although it has not ended. */
export async function perform(
  context: ActionContext,
  subject: Subject,
  { action, signal }: { readonly action: Action; readonly signal: AbortSignal },
): Promise<Outcome> {
  try {
    return await performAction(context, subject, { action, signal });
  } catch (error) {
    const { message } = error as Error;
    report(subject, action, message);
    return { type: 'failed', reason: '', message };
  }
}

const DONE: Outcome = { type: 'done' };

async function performAction(
  context: ActionContext,
  subject: Subject,
  { action, signal }: { readonly action: Action; readonly signal: AbortSignal },
): Promise<Outcome> {
  const { runtime, volumes } = context;
  const { name = '', namespace = '', uid = '' } = subject.pod.metadata;
  switch (action.type) {
    case 'prepare-volumes':
      await volumes.prepare(subject.pod);
      return DONE;
    case 'run-sandbox':
      return runSandbox(context, subject, action.attempt);
    case 'stop-sandbox':
      await runtime.stopSandbox(action.id);
      return DONE;
    case 'remove-sandbox':
      await runtime.removeSandbox(action.id);
      return DONE;
    case 'pull-image':
      return pullImage(context, subject, action);
    case 'start-container':
      return startContainer(context, subject, action);
    case 'pre-stop':
      return runPreStop(context, subject, { action, signal });
    case 'stop-container':
      return stopContainer(context, subject, { action, signal });
    case 'remove-container':
      return removeContainer(context, action);
    case 'update-resources':
      return updateResources(context, subject, action);
    case 'release-volumes':
      await volumes.release(uid);
      return DONE;
    case 'clean-up':
      await removeTree(podLogDirectory(context.logRoot, { namespace, name, uid }));
      return DONE;
  }
}

/** Its log goes with it, as with kubelet, unless all containers restart. */
async function removeContainer(
  { runtime }: ActionContext,
  { id, keepsLog }: Extract<Action, { readonly type: 'remove-container' }>,
): Promise<Outcome> {
  const container = await runtime.container(id);
  await runtime.removeContainer(id);
  if (container && !keepsLog) await removeLogs(container.logPath);
  return DONE;
}

async function updateResources(
  { runtime, node }: ActionContext,
  { pod }: Subject,
  { container, id, resources, podResources }: Extract<Action, { readonly type: 'update-resources' }>,
): Promise<Outcome> {
  const spec = containerNamed(pod, container)?.container;
  if (!spec) return { type: 'failed', reason: '', message: 'the container is not in the spec' };
  const wanted = { ...spec, ...(resources ? { resources } : {}) };
  const sized = { ...pod, spec: { ...pod.spec, resources: podResources } } as SeenPod;
  const { resources: machine, podPidsLimit } = node();
  await runtime.updateResources(
    id,
    containerResources(sized, wanted, machine),
    podCgroupResources(sized, podPidsLimit),
  );
  return DONE;
}

/** Failures that other actions do not report themselves. */
function report({ emit }: Subject, action: Action, message: string): void {
  switch (action.type) {
    case 'prepare-volumes':
      emit({ type: 'Warning', reason: 'FailedMount', message, container: undefined });
      return;
    case 'stop-sandbox':
    case 'stop-container':
      emit({
        type: 'Warning',
        reason: 'FailedKillPod',
        message: `error killing pod: ${message}`,
        container: undefined,
      });
      return;
    default:
  }
}
