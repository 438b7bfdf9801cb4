/** Creates a sandbox. */
import { ContainerConfigError } from '../../container/inputs.ts';
import { sandboxConfigOf } from '../../container/sandbox.ts';
import type { ActionOutcome } from '../../pod/plan/action.ts';
import type { SandboxConfig } from '../../runtime/sandbox-config.ts';
import { zeroByteInSandbox } from '../../runtime/zero-bytes.ts';
import type { ActionContext, Subject } from './context.ts';

export async function runSandbox(context: ActionContext, subject: Subject, attempt: number): Promise<ActionOutcome> {
  const { emit } = subject;
  try {
    const config = await sandboxConfig(context, subject, attempt);
    const problem = zeroByteInSandbox(config);
    if (problem !== undefined) throw new ContainerConfigError(problem);
    await context.runtime.runSandbox(config);
    return { type: 'done' };
  } catch (error) {
    const message = `Failed to create pod sandbox: ${(error as Error).message}`;
    emit({ type: 'Warning', reason: 'FailedCreatePodSandBox', message, container: undefined });
    return { type: 'failed', reason: '', message };
  }
}

/** Also needed when a container is created in the sandbox: then its warnings were emitted before. */
export async function sandboxConfig(context: ActionContext, subject: Subject, attempt: number): Promise<SandboxConfig> {
  const { pod, state, emit } = subject;
  const { runtimeClassName } = pod.spec;
  const runtimeHandler = runtimeClassName ? await context.objects.runtimeHandler(runtimeClassName) : '';
  const { config, events } = sandboxConfigOf(pod, {
    attempt,
    logRoot: context.logRoot,
    dns: context.node().dns,
    runtimeHandler,
    idMappings: await context.volumes.idMappings(pod),
    podPidsLimit: context.node().podPidsLimit,
  });
  const isNew = !state.sandboxes.some((sandbox) => sandbox.attempt === attempt);
  if (isNew) for (const event of events) emit({ ...event, container: undefined });
  return config;
}
