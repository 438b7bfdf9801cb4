/** The messages of CSI v1 and of plugin registration that the agent sends and reads, as field tables. */
import { methodsOf } from '../../../protocols/grpc/call.ts';
import {
  type Encodable,
  field,
  flag,
  integer,
  list,
  message,
  text,
  texts,
} from '../../../protocols/protobuf/message.ts';

const Empty = message({});

const Capability = message({
  block: field(1, Empty.type),
  mount: field(
    2,
    message({ fsType: field(1, text), mountFlags: field(2, list(text)), volumeMountGroup: field(3, text) }).type,
  ),
  /** `mode` is a number of CSI's enum AccessMode.Mode. */
  accessMode: field(3, message({ mode: field(1, integer) }).type),
});
export type VolumeCapability = Encodable<typeof Capability>;

const StageRequest = message({
  volumeId: field(1, text),
  publishContext: field(2, texts),
  stagingPath: field(3, text),
  capability: field(4, Capability.type),
  secrets: field(5, texts),
  volumeContext: field(6, texts),
});

const PublishRequest = message({
  volumeId: field(1, text),
  publishContext: field(2, texts),
  /** Path of staging; empty when the driver does not stage volumes. */
  stagingPath: field(3, text),
  targetPath: field(4, text),
  capability: field(5, Capability.type),
  readOnly: field(6, flag),
  secrets: field(7, texts),
  volumeContext: field(8, texts),
});

const ExpandRequest = message({
  volumeId: field(1, text),
  volumePath: field(2, text),
  range: field(3, message({ requiredBytes: field(1, integer), limitBytes: field(2, integer) }).type),
  stagingPath: field(4, text),
  capability: field(5, Capability.type),
  secrets: field(6, texts),
});

const CapabilitiesResponse = message({
  capabilities: field(1, list(message({ rpc: field(1, message({ type: field(1, integer) }).type) }).type)),
});

const InfoResponse = message({
  nodeId: field(1, text),
  /** Maximum number of volumes; 0 for no limit. */
  maxVolumes: field(2, integer),
  topology: field(3, message({ segments: field(1, texts) }).type),
});

const PluginInfo = message({
  type: field(1, text),
  name: field(2, text),
  endpoint: field(3, text),
  versions: field(4, list(text)),
});

const StatsRequest = message({ volumeId: field(1, text), volumePath: field(2, text), stagingPath: field(3, text) });
const StatsResponse = message({
  usage: field(
    1,
    list(
      message({
        available: field(1, integer),
        total: field(2, integer),
        used: field(3, integer),
        unit: field(4, integer),
      }).type,
    ),
  ),
});

const UnstageRequest = message({ volumeId: field(1, text), stagingPath: field(2, text) });
const UnpublishRequest = message({ volumeId: field(1, text), targetPath: field(2, text) });
const RegistrationStatus = message({ isRegistered: field(1, flag), error: field(2, text) });

const node = methodsOf('csi.v1.Node');
const registration = methodsOf('pluginregistration.Registration');

export const csi = {
  getInfo: node('NodeGetInfo', Empty, InfoResponse),
  getCapabilities: node('NodeGetCapabilities', Empty, CapabilitiesResponse),
  stage: node('NodeStageVolume', StageRequest, Empty),
  unstage: node('NodeUnstageVolume', UnstageRequest, Empty),
  publish: node('NodePublishVolume', PublishRequest, Empty),
  unpublish: node('NodeUnpublishVolume', UnpublishRequest, Empty),
  stats: node('NodeGetVolumeStats', StatsRequest, StatsResponse),
  expand: node('NodeExpandVolume', ExpandRequest, Empty),
};

export const plugin = {
  getInfo: registration('GetInfo', Empty, PluginInfo),
  notify: registration('NotifyRegistrationStatus', RegistrationStatus, Empty),
};

/** Numbers of NodeServiceCapability.RPC.Type. */
export const CAPABILITY = {
  stagesVolumes: 1,
  tellsUsage: 2,
  expandsVolumes: 3,
  knowsSingleNodeModes: 5,
  setsGroup: 6,
} as const;

/** Numbers of VolumeUsage.Unit. */
export const USAGE_UNIT = { bytes: 1, inodes: 2 } as const;
