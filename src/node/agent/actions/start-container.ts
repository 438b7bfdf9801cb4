/** Creates and starts a container, and runs its postStart hook. */
import { isStatic } from '../../admission/critical.ts';
import { containerConfigOf } from '../../container/container.ts';
import { environmentOf } from '../../container/environment.ts';
import { ContainerConfigError, fileKey, type Inputs, referencesOf } from '../../container/inputs.ts';
import { hostsFileOf } from '../../container/names/hosts-file.ts';
import type { SeenContainer } from '../../pod/container-run.ts';
import type { Action, ActionOutcome } from '../../pod/plan/action.ts';
import { readySandbox } from '../../pod/plan/facts.ts';
import { hookOf, runHook } from '../../probes/hook.ts';
import type { ContainerConfig } from '../../runtime/container-config.ts';
import { zeroByteInContainer } from '../../runtime/zero-bytes.ts';
import { VolumeError } from '../../volumes/volumes.ts';
import { containerNamed, type SpecContainer } from './containers.ts';
import { type ActionContext, addressesOf, isOnNodeNetwork, probedPod, type Subject } from './context.ts';
import { sandboxConfig } from './run-sandbox.ts';

type StartContainer = Extract<Action, { readonly type: 'start-container' }>;

/** Which step failed, in the words of a container's state. */
type Step = 'CreateContainerConfigError' | 'CreateContainerError' | 'RunContainerError' | 'PostStartHookError';

const NO_LIMIT_MS = 2 ** 31 - 1;

export async function startContainer(
  context: ActionContext,
  subject: Subject,
  action: StartContainer,
): Promise<ActionOutcome> {
  const { runtime } = context;
  const spec = containerNamed(subject.pod, action.container);
  const sandbox = readySandbox(subject.state);
  if (!spec || !sandbox) return { type: 'failed', reason: 'RunContainerError', message: 'the sandbox is gone' };
  const emit = emitter(subject, spec);
  let step: Step = 'CreateContainerConfigError';
  // Policies cannot tell it from its node.
  const addresses = isOnNodeNetwork(subject.pod, context.node()) ? [] : sandbox.addresses;
  const isolated = context.network.untilIsolated(subject.pod, addresses);
  isolated.catch(() => undefined);
  try {
    const config = await configOf(context, subject, { spec, action });
    const problem = zeroByteInContainer(config);
    if (problem !== undefined) throw new ContainerConfigError(problem);
    step = 'CreateContainerError';
    const id = await runtime.createContainer(
      sandbox.id,
      config,
      await sandboxConfig(context, subject, sandbox.attempt),
    );
    emit('Normal', 'Created', 'Container created');
    step = 'RunContainerError';
    await isolated;
    await runtime.startContainer(id);
    emit('Normal', 'Started', 'Container started');
    step = 'PostStartHookError';
    await postStart(context, subject, { spec, id });
    return { type: 'done' };
  } catch (error) {
    const { message } = error as Error;
    const reason = step === 'CreateContainerError' && isConfigError(error) ? 'CreateContainerConfigError' : step;
    if (step !== 'PostStartHookError') emit('Warning', 'Failed', `Error: ${message}`);
    return { type: 'failed', reason, message };
  }
}

const isConfigError = (error: unknown) => error instanceof ContainerConfigError || error instanceof VolumeError;

function emitter({ emit }: Subject, { container: { name }, role }: SpecContainer) {
  return (type: 'Normal' | 'Warning', reason: string, message: string) =>
    emit({ type, reason, message, container: { name, role } });
}

interface Started {
  readonly spec: SpecContainer;
  readonly action: StartContainer;
}

async function configOf(
  context: ActionContext,
  subject: Subject,
  { spec: { container, role }, action }: Started,
): Promise<ContainerConfig> {
  const { pod, state, emit } = subject;
  const { runtime, volumes, seccompDirectory } = context;
  const node = context.node();
  const { env, events } = environmentOf(pod, container, await inputsOf(context, subject, container));
  for (const event of events) emit({ ...event, container: { name: container.name, role } });
  const image = await runtime.images.find(action.imageId);
  const podIPs = addressesOf(subject, node);
  const { mounts, devices } = await volumes.mounts(pod, container, {
    attempt: action.attempt,
    env,
    supportsRecursiveReadOnly: await supportsRecursiveReadOnly(context, subject),
    idMappings: await volumes.idMappings(pod),
    hosts: hostsFileOf(pod, { clusterDomain: node.dns.clusterDomain, podIPs, nodeHosts: node.hosts }),
  });
  const target = 'targetContainerName' in container ? container.targetContainerName : undefined;
  const targetState = target ? state.containers.find(({ name }) => name === target) : undefined;
  return containerConfigOf(pod, container, {
    attempt: action.attempt,
    env,
    mounts,
    devices,
    machine: node.resources,
    seccompDirectory,
    image: { id: action.imageId, user: image?.user },
    targetContainerId: targetState?.records[0]?.id,
  });
}

async function supportsRecursiveReadOnly({ runtime, objects }: ActionContext, { pod }: Subject): Promise<boolean> {
  const { runtimeClassName } = pod.spec;
  const handler = runtimeClassName ? await objects.runtimeHandler(runtimeClassName) : '';
  return runtime.handlers.find(({ name }) => name === handler)?.recursiveReadOnlyMounts ?? false;
}

/** A hook that fails ends the container. */
async function postStart(
  context: ActionContext,
  subject: Subject,
  { spec, id }: { readonly spec: SpecContainer; readonly id: string },
): Promise<void> {
  const hook = hookOf(spec.container, 'postStart');
  if (!hook || spec.role === 'init') return;
  const { runtime, clock, userAgent } = context;
  const { signal } = new AbortController();
  try {
    const probed = probedPod(context, subject);
    const options = { runtime, clock, userAgent, id, ...probed, container: spec.container };
    await runHook(hook, { ...options, timeoutMs: NO_LIMIT_MS, signal });
  } catch (error) {
    const emit = emitter(subject, spec);
    emit('Warning', 'FailedPostStartHook', 'PostStartHook failed');
    emit('Normal', 'Killing', 'FailedPostStartHook');
    await runtime.stopContainer(id, subject.pod.spec.terminationGracePeriodSeconds ?? 30);
    throw error;
  }
}

/** Reads what the environment of a container refers to. */
async function inputsOf(context: ActionContext, subject: Subject, container: SeenContainer): Promise<Inputs> {
  const { objects, volumes } = context;
  const node = context.node();
  const { pod } = subject;
  const { namespace = '' } = pod.metadata;
  const { configMaps, secrets, files } = referencesOf(container);
  const all = async <T>(names: readonly string[], read: (name: string) => Promise<T>) =>
    new Map(await Promise.all(names.map(async (name) => [name, await read(name)] as const)));
  return {
    configMaps: await all(configMaps, (name) => objects.configMap(namespace, name)),
    secrets: await all(secrets, (name) => objects.secret(namespace, name)),
    files: new Map(
      await Promise.all(
        files.map(async (file) => [fileKey(file.volumeName, file.path), await volumes.readFile(pod, file)] as const),
      ),
    ),
    // A static pod does not wait for the server.
    services: await objects.services(!isStatic(pod)),
    podIPs: addressesOf(subject, node),
    hostIPs: node.hostIPs,
    allocatable: node.allocatable,
  };
}
