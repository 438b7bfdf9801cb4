/** Messages about containers. */
import {
  bytes,
  field,
  flag,
  integer,
  list,
  message,
  oneOf,
  optionalInteger,
  text,
  texts,
} from '../../../protocols/protobuf/message.ts';
import { SandboxMessage } from './sandbox.ts';
import { IdMapping, ImageSpec, NamespaceOption, Resources, SecurityProfile, Selinux } from './shared.ts';
import { SIGNALS } from './signals.ts';

const ContainerMetadata = message({ name: field(1, text), attempt: field(2, integer) });

const Mount = message({
  containerPath: field(1, text),
  hostPath: field(2, text),
  readOnly: field(3, flag),
  selinuxRelabel: field(4, flag),
  propagation: field(5, oneOf(['private', 'host-to-container', 'bidirectional'])),
  uids: field(6, list(IdMapping.type)),
  gids: field(7, list(IdMapping.type)),
  recursiveReadOnly: field(8, flag),
  image: field(9, ImageSpec.type),
  imageSubPath: field(10, text),
});

const Device = message({ containerPath: field(1, text), hostPath: field(2, text), permissions: field(3, text) });

const Capabilities = message({ add: field(1, list(text)), drop: field(2, list(text)) });

const ContainerSecurityMessage = message({
  capabilities: field(1, Capabilities.type),
  privileged: field(2, flag),
  namespaces: field(3, NamespaceOption.type),
  selinux: field(4, Selinux.type),
  runAsUser: field(5, optionalInteger),
  runAsUsername: field(6, text),
  readOnlyRoot: field(7, flag),
  supplementalGroups: field(8, list(integer)),
  /** Superseded by the profiles below; containerd 1.6 knows them, too. */
  noNewPrivileges: field(11, flag),
  runAsGroup: field(12, optionalInteger),
  maskedPaths: field(13, list(text)),
  readOnlyPaths: field(14, list(text)),
  seccomp: field(15, SecurityProfile.type),
  appArmor: field(16, SecurityProfile.type),
  supplementalGroupsPolicy: field(17, oneOf(['merge', 'strict'])),
});

export const ContainerMessage = message({
  metadata: field(1, ContainerMetadata.type),
  image: field(2, ImageSpec.type),
  command: field(3, list(text)),
  args: field(4, list(text)),
  workingDirectory: field(5, text),
  env: field(6, list(message({ key: field(1, text), value: field(2, bytes) }).type)),
  mounts: field(7, list(Mount.type)),
  devices: field(8, list(Device.type)),
  labels: field(9, texts),
  annotations: field(10, texts),
  logPath: field(11, text),
  stdin: field(12, flag),
  stdinOnce: field(13, flag),
  tty: field(14, flag),
  linux: field(
    15,
    message({ resources: field(1, Resources.type), security: field(2, ContainerSecurityMessage.type) }).type,
  ),
  stopSignal: field(18, oneOf(SIGNALS)),
});

export const CreateContainerRequest = message({
  sandboxId: field(1, text),
  config: field(2, ContainerMessage.type),
  sandbox: field(3, SandboxMessage.type),
});
export const ContainerId = message({ id: field(1, text) });
export const StopContainerRequest = message({ id: field(1, text), timeoutSeconds: field(2, integer) });

const containerState = oneOf(['created', 'running', 'exited', 'unknown']);

export const ListContainersRequest = message({ filter: field(1, message({ labels: field(4, texts) }).type) });
export const ListContainersResponse = message({
  containers: field(
    1,
    list(
      message({
        id: field(1, text),
        sandboxId: field(2, text),
        state: field(6, containerState),
        labels: field(8, texts),
      }).type,
    ),
  ),
});

export const ContainerStatus = message({
  id: field(1, text),
  metadata: field(2, ContainerMetadata.type),
  state: field(3, containerState),
  createdAt: field(4, integer),
  startedAt: field(5, integer),
  finishedAt: field(6, integer),
  exitCode: field(7, integer),
  image: field(8, ImageSpec.type),
  imageRef: field(9, text),
  reason: field(10, text),
  message: field(11, text),
  labels: field(12, texts),
  annotations: field(13, texts),
  logPath: field(15, text),
  resources: field(16, message({ linux: field(1, Resources.type) }).type),
});
export const ContainerStatusResponse = message({ status: field(1, ContainerStatus.type) });

export const UpdateResourcesRequest = message({ id: field(1, text), linux: field(2, Resources.type) });

export const ExecSyncRequest = message({
  id: field(1, text),
  command: field(2, list(text)),
  timeoutSeconds: field(3, integer),
});
export const ExecSyncResponse = message({
  stdout: field(1, bytes),
  stderr: field(2, bytes),
  exitCode: field(3, integer),
});

export const ExecRequestMessage = message({
  id: field(1, text),
  command: field(2, list(text)),
  tty: field(3, flag),
  stdin: field(4, flag),
  stdout: field(5, flag),
  stderr: field(6, flag),
});
export const AttachRequestMessage = message({
  id: field(1, text),
  stdin: field(2, flag),
  tty: field(3, flag),
  stdout: field(4, flag),
  stderr: field(5, flag),
});
export const PortForwardRequest = message({ id: field(1, text), ports: field(2, list(integer)) });
export const StreamUrl = message({ url: field(1, text) });
