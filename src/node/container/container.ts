/** The configuration of one container. */
import type { SeenContainer, SeenPod } from '../pod/container-run.ts';
import type { ContainerConfig, Device, EnvVariable, Mount } from '../runtime/container-config.ts';
import { containerAnnotations, containerLabels } from './labels.ts';
import { containerResources, type MachineResources } from './resources.ts';
import { containerSecurity, type ImageUser } from './security/security.ts';
import { expand } from './variables/expansion.ts';

export interface ContainerOptions {
  readonly attempt: number;
  /** Result of `Images.find` for its image. */
  readonly image: { readonly id: string; readonly user: ImageUser };
  /** Result of `environmentOf`. */
  readonly env: readonly EnvVariable[];
  /** Result of `Volumes.mounts`. */
  readonly mounts: readonly Mount[];
  readonly devices: readonly Device[];
  readonly machine: MachineResources;
  readonly seccompDirectory: string;
  /** For an ephemeral container with `targetContainerName`: the id of that container. */
  readonly targetContainerId: string | undefined;
}

/** Throws a ContainerConfigError when its security settings cannot be met. */
export function containerConfigOf(pod: SeenPod, container: SeenContainer, options: ContainerOptions): ContainerConfig {
  const { attempt, image, env, mounts, devices, machine } = options;
  const values = new Map(env.map(({ name, value }) => [name, value]));
  const expanded = (texts: readonly string[] | undefined) =>
    texts?.length ? texts.map((text) => expand(text, (name) => values.get(name))) : undefined;
  return {
    name: container.name,
    attempt,
    image: container.image,
    imageId: image.id,
    command: expanded(container.command),
    args: expanded(container.args),
    workingDirectory: container.workingDir || undefined,
    env,
    mounts,
    devices,
    labels: containerLabels(pod, container),
    annotations: containerAnnotations(pod, container, attempt),
    logPath: containerLogPath(container.name, attempt),
    stdin: container.stdin ?? false,
    stdinOnce: container.stdinOnce ?? false,
    tty: container.tty ?? false,
    resources: containerResources(pod, container, machine),
    security: containerSecurity(pod, container, {
      imageUser: image.user,
      seccompDirectory: options.seccompDirectory,
      targetContainerId: options.targetContainerId,
    }),
    stopSignal: container.lifecycle?.stopSignal,
  };
}

/** Relative to the pod's log directory. */
function containerLogPath(name: string, attempt: number): string {
  return `${name}/${attempt}.log`;
}
