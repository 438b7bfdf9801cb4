/** Messages that sandboxes and containers have in common. */
import { field, integer, list, message, oneOf, text, texts } from '../../../protocols/protobuf/message.ts';

export const Resources = message({
  cpuPeriod: field(1, integer),
  cpuQuota: field(2, integer),
  cpuShares: field(3, integer),
  memoryBytes: field(4, integer),
  oomScoreAdj: field(5, integer),
  cpusetCpus: field(6, text),
  hugepages: field(8, list(message({ pageSize: field(1, text), bytes: field(2, integer) }).type)),
  unified: field(9, texts),
});

export const IdMapping = message({
  hostId: field(1, integer),
  containerId: field(2, integer),
  length: field(3, integer),
});

const namespaceMode = oneOf(['pod', 'container', 'node', 'target']);

export const NamespaceOption = message({
  network: field(1, namespaceMode),
  pid: field(2, namespaceMode),
  ipc: field(3, namespaceMode),
  targetId: field(4, text),
  user: field(
    5,
    message({
      mode: field(1, namespaceMode),
      uids: field(2, list(IdMapping.type)),
      gids: field(3, list(IdMapping.type)),
    }).type,
  ),
});

export const Selinux = message({
  user: field(1, text),
  role: field(2, text),
  type: field(3, text),
  level: field(4, text),
});

export const SecurityProfile = message({
  type: field(1, oneOf(['runtime-default', 'unconfined', 'localhost'])),
  localhost: field(2, text),
});

export const ImageSpec = message({
  image: field(1, text),
  annotations: field(2, texts),
  userSpecifiedImage: field(18, text),
});
