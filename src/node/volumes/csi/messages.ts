/** The messages of CSI v1 and of plugin registration that the agent sends and reads, field by field. */
import type { Method } from '../../../base/grpc/call.ts';
import { ProtoReader } from '../../../base/protobuf/reader.ts';
import { ProtoWriter } from '../../../base/protobuf/writer.ts';

const MESSAGE_BYTES = 1024;
type Texts = Readonly<Record<string, string>>;

/** `accessMode` is a number of CSI's enum AccessMode.Mode. */
export interface VolumeCapability {
  readonly isBlock: boolean;
  readonly fsType: string;
  readonly mountFlags: readonly string[];
  readonly accessMode: number;
}

export interface StageRequest {
  readonly volumeId: string;
  readonly stagingPath: string;
  readonly capability: VolumeCapability;
  readonly secrets: Texts;
  readonly volumeContext: Texts;
}

export interface PublishRequest extends StageRequest {
  /** Empty: the driver does not stage volumes. */
  readonly stagingPath: string;
  readonly targetPath: string;
  readonly readOnly: boolean;
}

export interface PluginInfo {
  readonly type: string;
  readonly name: string;
  readonly endpoint: string;
}

const none = { decode: () => ({}) };

export const NodeStageVolume: Method<StageRequest, object> = {
  path: '/csi.v1.Node/NodeStageVolume',
  ...none,
  encode: ({ volumeId, stagingPath, capability, secrets, volumeContext }) =>
    written((writer) => {
      textMap(writer, 6, volumeContext);
      textMap(writer, 5, secrets);
      writeCapability(writer, 4, capability);
      text(writer, 3, stagingPath);
      text(writer, 1, volumeId);
    }),
};

export const NodeUnstageVolume: Method<{ volumeId: string; stagingPath: string }, object> = {
  path: '/csi.v1.Node/NodeUnstageVolume',
  ...none,
  encode: ({ volumeId, stagingPath }) =>
    written((writer) => {
      text(writer, 2, stagingPath);
      text(writer, 1, volumeId);
    }),
};

export const NodePublishVolume: Method<PublishRequest, object> = {
  path: '/csi.v1.Node/NodePublishVolume',
  ...none,
  encode: (request) =>
    written((writer) => {
      textMap(writer, 8, request.volumeContext);
      textMap(writer, 7, request.secrets);
      if (request.readOnly) writer.boolean(6, true);
      writeCapability(writer, 5, request.capability);
      text(writer, 4, request.targetPath);
      text(writer, 3, request.stagingPath);
      text(writer, 1, request.volumeId);
    }),
};

export const NodeUnpublishVolume: Method<{ volumeId: string; targetPath: string }, object> = {
  path: '/csi.v1.Node/NodeUnpublishVolume',
  ...none,
  encode: ({ volumeId, targetPath }) =>
    written((writer) => {
      text(writer, 2, targetPath);
      text(writer, 1, volumeId);
    }),
};

/** Returns the numbers of NodeServiceCapability.RPC.Type. */
export const NodeGetCapabilities: Method<object, readonly number[]> = {
  path: '/csi.v1.Node/NodeGetCapabilities',
  encode: () => Buffer.alloc(0),
  decode: (message) => {
    const types: number[] = [];
    eachField(message, (field, reader) => {
      if (field !== 1) return reader.skip();
      eachField(reader.bytes(), (kind, capability) => {
        if (kind !== 1) return capability.skip();
        eachField(capability.bytes(), (part, rpc) => {
          if (part === 1) types.push(rpc.number());
          else rpc.skip();
        });
      });
    });
    return types;
  },
};

/** The driver keeps a staging directory for each volume. */
export const STAGE_UNSTAGE = 1;

export const GetPluginInfo: Method<object, PluginInfo> = {
  path: '/pluginregistration.Registration/GetInfo',
  encode: () => Buffer.alloc(0),
  decode: (message) => {
    const texts = ['', '', '', ''];
    eachField(message, (field, reader) => {
      if (field >= 1 && field <= 3) texts[field] = reader.string();
      else reader.skip();
    });
    return { type: texts[1]!, name: texts[2]!, endpoint: texts[3]! };
  },
};

export const NotifyRegistrationStatus: Method<{ isRegistered: boolean; error: string }, object> = {
  path: '/pluginregistration.Registration/NotifyRegistrationStatus',
  ...none,
  encode: ({ isRegistered, error }) =>
    written((writer) => {
      text(writer, 2, error);
      if (isRegistered) writer.boolean(1, true);
    }),
};

function writeCapability(writer: ProtoWriter, field: number, capability: VolumeCapability): void {
  writer.message(field, () => {
    writer.message(3, () => writer.number(1, capability.accessMode));
    if (capability.isBlock) return writer.message(1, () => {});
    writer.message(2, () => {
      for (const flag of [...capability.mountFlags].reverse()) writer.string(2, flag);
      text(writer, 1, capability.fsType);
    });
  });
}

/** Proto3 leaves out empty fields. */
function text(writer: ProtoWriter, field: number, value: string): void {
  if (value) writer.string(field, value);
}

function textMap(writer: ProtoWriter, field: number, values: Texts): void {
  for (const [key, value] of Object.entries(values).reverse()) {
    writer.message(field, () => {
      writer.string(2, value);
      writer.string(1, key);
    });
  }
}

function written(write: (writer: ProtoWriter) => void): Buffer {
  const writer = new ProtoWriter(MESSAGE_BYTES);
  write(writer);
  return writer.finish();
}

function eachField(message: Buffer, read: (field: number, reader: ProtoReader) => void): void {
  const reader = new ProtoReader(message);
  for (let field = reader.next(); field !== 0; field = reader.next()) read(field, reader);
}
