/** Features of a runtime, as it reports itself or as its version tells. */
import type { Decoded } from '../../../protocols/protobuf/message.ts';
import type { RuntimeHandler } from '../../runtime/runtime.ts';
import type { StatusResponse, VersionResponse } from '../messages/status.ts';

export interface Features {
  /** Name and version for messages: `containerd 1.6.20`. */
  readonly runtime: string;
  readonly userNamespaces: boolean;
  readonly recursiveReadOnly: boolean;
  readonly strictSupplementalGroups: boolean;
  readonly imageVolumes: boolean;
  readonly imageVolumeSubPaths: boolean;
  readonly stopSignals: boolean;
  readonly hostPorts: boolean;
}

export function featuresOf(
  version: Decoded<typeof VersionResponse>,
  status: Decoded<typeof StatusResponse>,
  { hostPorts }: Pick<Features, 'hostPorts'>,
): Features {
  const { runtimeName: name } = version;
  const number = plainVersion(version.runtimeVersion);
  // Any handler counts: which one a pod gets is decided later.
  const handlers = status.handlers.map(({ features }) => features);
  const isAtLeast = (containerd: string, crio: string) =>
    atLeast(number, name === 'cri-o' || name === 'crio' ? crio : containerd);
  return {
    runtime: `${name} ${number}`,
    userNamespaces: handlers.some((features) => features?.userNamespaces === true),
    recursiveReadOnly: handlers.some((features) => features?.recursiveReadOnly === true),
    strictSupplementalGroups: status.features?.supplementalGroupsPolicy === true,
    imageVolumes: isAtLeast('2.1', '1.31'),
    imageVolumeSubPaths: isAtLeast('2.2', '1.33'),
    stopSignals: isAtLeast('2.2', '1.33'),
    hostPorts,
  };
}

/** Returns handlers sorted by name, as kubelet reports them. containerd reports them since 2.0. */
export function handlersOf({ handlers }: Decoded<typeof StatusResponse>): RuntimeHandler[] {
  return handlers
    .map(({ name, features }) => ({
      name,
      recursiveReadOnlyMounts: features?.recursiveReadOnly ?? false,
      userNamespaces: features?.userNamespaces ?? false,
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** `1.6.20` of `v1.6.20~ds1`. */
export function plainVersion(version: string): string {
  return /\d+(?:\.\d+)+(?:-[0-9A-Za-z.-]+)?/.exec(version)?.[0] ?? version;
}

export function atLeast(version: string, wanted: string): boolean {
  const [have, want] = [version, wanted].map((each) => each.split('.').map((part) => Number.parseInt(part, 10)));
  for (let i = 0; i < want!.length; i++) {
    if ((have![i] ?? 0) !== want![i]) return (have![i] ?? 0) > want![i]!;
  }
  return true;
}
