/** Seccomp and AppArmor profiles: of the container, or else of its pod. */
import { join } from 'node:path';
import type { SeenContainer, SeenPod } from '../../pod/container-run.ts';
import type { AppArmor, Seccomp } from '../../runtime/container-config.ts';
import { ContainerConfigError } from '../inputs.ts';

const APPARMOR_ANNOTATION = 'container.apparmor.security.beta.kubernetes.io/';

/** Paths of Localhost profiles are relative to `directory`. */
export function seccompOf(pod: SeenPod, container: SeenContainer, directory: string): Seccomp {
  const profile = container.securityContext?.seccompProfile ?? pod.spec.securityContext?.seccompProfile;
  switch (profile?.type) {
    case 'RuntimeDefault':
      return { type: 'runtime-default' };
    case 'Localhost':
      if (!profile.localhostProfile) {
        throw new ContainerConfigError('localhostProfile must be set if seccompProfile type is Localhost.');
      }
      return { type: 'localhost', file: join(directory, profile.localhostProfile) };
    case 'Unconfined':
      return { type: 'unconfined' };
    default:
      return { type: 'unset' };
  }
}

/** Undefined: the runtime decides. */
export function appArmorOf(pod: SeenPod, container: SeenContainer): AppArmor | undefined {
  const own = container.securityContext?.appArmorProfile;
  const annotation = own ? undefined : pod.metadata.annotations?.[APPARMOR_ANNOTATION + container.name];
  if (annotation !== undefined) return annotatedAppArmor(annotation);
  const profile = own ?? pod.spec.securityContext?.appArmorProfile;
  if (!profile) return undefined;
  switch (profile.type) {
    case 'RuntimeDefault':
      return { type: 'runtime-default' };
    case 'Unconfined':
      return { type: 'unconfined' };
    case 'Localhost':
      if (!profile.localhostProfile) throw new ContainerConfigError('missing localhost apparmor profile name');
      return { type: 'localhost', profile: profile.localhostProfile };
    default:
      throw new ContainerConfigError(`unknown apparmor profile type: "${profile.type}"`);
  }
}

function annotatedAppArmor(annotation: string): AppArmor | undefined {
  if (annotation === 'runtime/default') return { type: 'runtime-default' };
  if (annotation === 'unconfined') return { type: 'unconfined' };
  const profile = /^localhost\/(.+)$/.exec(annotation)?.[1];
  return profile === undefined ? undefined : { type: 'localhost', profile };
}
