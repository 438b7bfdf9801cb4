/** Performs the actions of plans. */
import { removeTree } from '../../../base/files/inside/remove-tree.ts';
import { scaled } from '../../../base/quantity.ts';
import { containerResources, effectiveResources } from '../../container/resources.ts';
import { podLogDirectory } from '../../container/sandbox.ts';
import { removeLogs } from '../../logs/rotate.ts';
import type { SeenPod } from '../../pod/container-run.ts';
import type { Action, ActionOutcome } from '../../pod/plan/action.ts';
import type { RegistryCredentials } from '../../runtime/runtime.ts';
import { podCredentials } from '../images/keyring.ts';
import type { PullPolicy } from '../images/pull.ts';
import { containerNamed } from './containers.ts';
import type { ActionContext, Subject } from './context.ts';
import { runSandbox } from './run-sandbox.ts';
import { startContainer } from './start-container.ts';
import { runPreStop, stopContainer } from './stop-container.ts';

/** Never rejects. `signal` is aborted when the action is planned again although it has not ended. */
export async function perform(
  context: ActionContext,
  subject: Subject,
  { action, signal }: { readonly action: Action; readonly signal: AbortSignal },
): Promise<ActionOutcome> {
  try {
    return await performAction(context, subject, { action, signal });
  } catch (error) {
    const { message } = error as Error;
    report(subject, action, message);
    return { type: 'failed', reason: '', message };
  }
}

const DONE: ActionOutcome = { type: 'done' };

async function performAction(
  context: ActionContext,
  subject: Subject,
  { action, signal }: { readonly action: Action; readonly signal: AbortSignal },
): Promise<ActionOutcome> {
  const { runtime, volumes } = context;
  const { name = '', namespace = '', uid = '' } = subject.pod.metadata;
  switch (action.type) {
    case 'prepare-volumes':
      await volumes.prepare(subject.pod);
      return DONE;
    case 'run-sandbox':
      return runSandbox(context, subject, action.attempt);
    case 'resize-sandbox':
      return resizeSandbox(context, subject, action);
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
): Promise<ActionOutcome> {
  const container = await runtime.container(id);
  await runtime.removeContainer(id);
  if (container && !keepsLog) await removeLogs(container.logPath);
  return DONE;
}

async function updateResources(
  { runtime, node }: ActionContext,
  { pod, state }: Subject,
  { container, position, id, resources, podResources }: Extract<Action, { readonly type: 'update-resources' }>,
): Promise<ActionOutcome> {
  const spec = containerNamed(pod, container)?.container;
  if (!spec) return { type: 'failed', reason: '', message: 'the container is not in the spec' };
  const wanted = { ...spec, ...(resources ? { resources } : {}) };
  const sized = { ...pod, spec: { ...pod.spec, resources: podResources } } as SeenPod;
  const limits = containerResources(sized, wanted, node().resources);
  const { applied } = state.containers[position]!;
  const before = effectiveResources(applied?.own, applied?.ofPod).limits.memory;
  if (isLess(limits.memoryBytes, before && Number(scaled(before, 0)))) {
    const used = (await runtime.usage()).find((each) => each.id === id)?.workingSet;
    const problem = memoryProblem(`container "${container}"`, limits.memoryBytes, used);
    if (problem) return problem;
  }
  await runtime.updateResources(id, limits);
  return DONE;
}

async function resizeSandbox(
  { runtime }: ActionContext,
  { state }: Subject,
  { id, size: { cgroup } }: Extract<Action, { readonly type: 'resize-sandbox' }>,
): Promise<ActionOutcome> {
  if (isLess(cgroup.memoryBytes, state.size.cgroup.memoryBytes)) {
    const used = (await runtime.podUsage?.())?.find((each) => each.id === id)?.workingSet;
    const problem = memoryProblem('pod', cgroup.memoryBytes, used);
    if (problem) return problem;
  }
  await runtime.updateSandbox(id, cgroup);
  return DONE;
}

/** Reports whether a limit becomes lower. */
const isLess = (after: number | undefined, before: number | undefined): after is number =>
  after !== undefined && (before === undefined || after < before);

/** A limit below what is in use would have processes killed. */
function memoryProblem(subject: string, limit: number, used: number | undefined): ActionOutcome | undefined {
  if (used === undefined || used < limit) return undefined;
  const message = `cannot decrease memory limits: attempting to set ${subject} memory limit (${limit}) below current usage (${used})`;
  return { type: 'failed', reason: '', message };
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

type PullImage = Extract<Action, { readonly type: 'pull-image' }>;

/** Looks for the image of a container, and pulls it if its policy says so. */
async function pullImage(context: ActionContext, subject: Subject, action: PullImage): Promise<ActionOutcome> {
  const found = containerNamed(subject.pod, action.container);
  if (!found) return { type: 'failed', reason: 'ErrImagePull', message: 'the container is not in the spec' };
  const { container, role } = found;
  const policy = (container.imagePullPolicy ?? 'IfNotPresent') as PullPolicy;
  const credentials = () => credentialsOf(context, subject, action.image);
  return context.pulls.ensure({ image: action.image, policy, credentials }, (event) =>
    subject.emit({ ...event, container: { name: container.name, role } }),
  );
}

async function credentialsOf(
  { objects }: ActionContext,
  { pod, emit }: Subject,
  image: string,
): Promise<readonly RegistryCredentials[]> {
  const { credentials, missing } = await podCredentials(pod, image, async (namespace, name) => {
    const secret = await objects.secret(namespace, name);
    return secret.type === 'found' ? secret.object : undefined;
  });
  if (missing.length > 0) {
    const message = `Unable to retrieve some image pull secrets (${missing.join(', ')}); attempting to pull the image may not succeed.`;
    emit({ type: 'Warning', reason: 'FailedToRetrieveImagePullSecret', message, container: undefined });
  }
  return credentials;
}
