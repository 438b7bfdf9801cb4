/** Messages about pod sandboxes. */
import {
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
import { NamespaceOption, Resources, SecurityProfile, Selinux } from './shared.ts';

const SandboxMetadata = message({
  name: field(1, text),
  uid: field(2, text),
  namespace: field(3, text),
  attempt: field(4, integer),
});

const Dns = message({ servers: field(1, list(text)), searches: field(2, list(text)), options: field(3, list(text)) });

const PortMapping = message({
  protocol: field(1, oneOf(['TCP', 'UDP', 'SCTP'])),
  containerPort: field(2, integer),
  hostPort: field(3, integer),
  hostIP: field(4, text),
});

const SandboxSecurity = message({
  namespaces: field(1, NamespaceOption.type),
  selinux: field(2, Selinux.type),
  runAsUser: field(3, optionalInteger),
  supplementalGroups: field(5, list(integer)),
  privileged: field(6, flag),
  runAsGroup: field(8, optionalInteger),
  seccomp: field(9, SecurityProfile.type),
});

const LinuxSandbox = message({
  cgroupParent: field(1, text),
  security: field(2, SandboxSecurity.type),
  sysctls: field(3, texts),
  overhead: field(4, Resources.type),
  resources: field(5, Resources.type),
});

export const SandboxMessage = message({
  metadata: field(1, SandboxMetadata.type),
  hostname: field(2, text),
  logDirectory: field(3, text),
  dns: field(4, Dns.type),
  ports: field(5, list(PortMapping.type)),
  labels: field(6, texts),
  annotations: field(7, texts),
  linux: field(8, LinuxSandbox.type),
});

export const RunSandboxRequest = message({ config: field(1, SandboxMessage.type), runtimeHandler: field(2, text) });
export const SandboxId = message({ id: field(1, text) });
export const SandboxStatusRequest = message({ id: field(1, text), verbose: field(2, flag) });

const sandboxState = oneOf(['ready', 'not-ready']);

export const SandboxStatus = message({
  id: field(1, text),
  metadata: field(2, SandboxMetadata.type),
  state: field(3, sandboxState),
  createdAt: field(4, integer),
  network: field(
    5,
    message({ ip: field(1, text), additional: field(2, list(message({ ip: field(1, text) }).type)) }).type,
  ),
  labels: field(7, texts),
  annotations: field(8, texts),
});
export const SandboxStatusResponse = message({ status: field(1, SandboxStatus.type), info: field(2, texts) });

export const ListSandboxesRequest = message({ filter: field(1, message({ labels: field(3, texts) }).type) });
export const ListSandboxesResponse = message({
  items: field(
    1,
    list(
      message({
        id: field(1, text),
        metadata: field(2, SandboxMetadata.type),
        state: field(3, sandboxState),
        createdAt: field(4, integer),
        labels: field(5, texts),
        annotations: field(6, texts),
      }).type,
    ),
  ),
});
