/** A CSI driver for tests: a gRPC server of Node's own HTTP/2, with messages encoded by a library that shares nothing with ours. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, rmdir } from 'node:fs/promises';
import { createServer, type Http2Server, type ServerHttp2Stream } from 'node:http2';
import { join } from 'node:path';
import { fromJSON, type ServiceDefinition } from '@grpc/proto-loader';

type Descriptors = NonNullable<Parameters<typeof fromJSON>[0]['nested']>;
type Fields = Record<string, { id: number; type: string; rule?: string; keyType?: string }>;

const text = (id: number) => ({ id, type: 'string' });
const texts = (id: number) => ({ id, type: 'string', keyType: 'string' });
const message = (id: number, type: string) => ({ id, type });
const fields = (each: Fields, oneofs = {}) => ({ fields: each, oneofs });
const rpc = (requestType: string, responseType: string) => ({ requestType, responseType, comment: '' });

const CSI: Descriptors = {
  Empty: fields({}),
  MountVolume: fields({
    fsType: text(1),
    mountFlags: { id: 2, type: 'string', rule: 'repeated' },
    volumeMountGroup: text(3),
  }),
  BlockVolume: fields({}),
  AccessMode: fields({ mode: message(1, 'int32') }),
  VolumeCapability: fields(
    { block: message(1, 'BlockVolume'), mount: message(2, 'MountVolume'), accessMode: message(3, 'AccessMode') },
    { accessType: { oneof: ['block', 'mount'] } },
  ),
  NodeStageVolumeRequest: fields({
    volumeId: text(1),
    publishContext: texts(2),
    stagingTargetPath: text(3),
    volumeCapability: message(4, 'VolumeCapability'),
    secrets: texts(5),
    volumeContext: texts(6),
  }),
  NodeUnstageVolumeRequest: fields({ volumeId: text(1), stagingTargetPath: text(2) }),
  NodePublishVolumeRequest: fields({
    volumeId: text(1),
    publishContext: texts(2),
    stagingTargetPath: text(3),
    targetPath: text(4),
    volumeCapability: message(5, 'VolumeCapability'),
    readonly: message(6, 'bool'),
    secrets: texts(7),
    volumeContext: texts(8),
  }),
  NodeUnpublishVolumeRequest: fields({ volumeId: text(1), targetPath: text(2) }),
  CapacityRange: fields({ requiredBytes: message(1, 'int64'), limitBytes: message(2, 'int64') }),
  NodeExpandVolumeRequest: fields({
    volumeId: text(1),
    volumePath: text(2),
    capacityRange: message(3, 'CapacityRange'),
    stagingTargetPath: text(4),
    volumeCapability: message(5, 'VolumeCapability'),
    secrets: texts(6),
  }),
  NodeGetVolumeStatsRequest: fields({ volumeId: text(1), volumePath: text(2), stagingTargetPath: text(3) }),
  VolumeUsage: fields({
    available: message(1, 'int64'),
    total: message(2, 'int64'),
    used: message(3, 'int64'),
    unit: message(4, 'int32'),
  }),
  NodeGetVolumeStatsResponse: fields({ usage: { id: 1, type: 'VolumeUsage', rule: 'repeated' } }),
  Topology: fields({ segments: texts(1) }),
  NodeGetInfoResponse: fields({
    nodeId: text(1),
    maxVolumesPerNode: message(2, 'int64'),
    accessibleTopology: message(3, 'Topology'),
  }),
  NodeRpc: fields({ type: message(1, 'int32') }),
  NodeServiceCapability: fields({ rpc: message(1, 'NodeRpc') }),
  NodeGetCapabilitiesResponse: fields({ capabilities: { id: 1, type: 'NodeServiceCapability', rule: 'repeated' } }),
  Node: {
    methods: {
      NodeStageVolume: rpc('NodeStageVolumeRequest', 'Empty'),
      NodeUnstageVolume: rpc('NodeUnstageVolumeRequest', 'Empty'),
      NodePublishVolume: rpc('NodePublishVolumeRequest', 'Empty'),
      NodeUnpublishVolume: rpc('NodeUnpublishVolumeRequest', 'Empty'),
      NodeExpandVolume: rpc('NodeExpandVolumeRequest', 'Empty'),
      NodeGetVolumeStats: rpc('NodeGetVolumeStatsRequest', 'NodeGetVolumeStatsResponse'),
      NodeGetInfo: rpc('Empty', 'NodeGetInfoResponse'),
      NodeGetCapabilities: rpc('Empty', 'NodeGetCapabilitiesResponse'),
    },
  },
};

const REGISTRATION: Descriptors = {
  InfoRequest: fields({}),
  PluginInfo: fields({
    type: text(1),
    name: text(2),
    endpoint: text(3),
    supportedVersions: { id: 4, type: 'string', rule: 'repeated' },
  }),
  RegistrationStatus: fields({ pluginRegistered: message(1, 'bool'), error: text(2) }),
  Registration: {
    methods: {
      GetInfo: rpc('InfoRequest', 'PluginInfo'),
      NotifyRegistrationStatus: rpc('RegistrationStatus', 'InfoRequest'),
    },
  },
};

const packages = fromJSON({
  nested: { csi: { nested: { v1: { nested: CSI } } }, pluginregistration: { nested: REGISTRATION } },
});
const methods = Object.values({
  ...(packages['csi.v1.Node'] as ServiceDefinition),
  ...(packages['pluginregistration.Registration'] as ServiceDefinition),
});

export interface CsiCall {
  readonly method: string;
  readonly request: Record<string, unknown>;
}

export interface CsiDriverOptions {
  readonly name: string;
  /** The directory of registration sockets. */
  readonly registry: string;
  /** Content of volumes: it is mounted at the target. */
  readonly data: string;
  readonly stages: boolean;
  /** Further numbers of NodeServiceCapability.RPC.Type. */
  readonly capabilities?: readonly number[];
  readonly canMount: boolean;
}

export class CsiDriver implements AsyncDisposable {
  readonly calls: CsiCall[] = [];
  /** Makes calls of a method fail with this status and message. */
  readonly failures = new Map<string, { readonly code: number; readonly message: string }>();
  readonly #options: CsiDriverOptions;
  readonly #servers: Http2Server[] = [];

  private constructor(options: CsiDriverOptions) {
    this.#options = options;
  }

  static async start(options: CsiDriverOptions): Promise<CsiDriver> {
    const driver = new CsiDriver(options);
    await mkdir(options.registry, { recursive: true });
    await driver.#listen(driver.#endpoint);
    await driver.#listen(join(options.registry, `${options.name}-reg.sock`));
    return driver;
  }

  /** Calls of CSI, without registration and capabilities. */
  get nodeCalls(): CsiCall[] {
    return this.calls.filter(({ method }) => /^Node(?!Get)/.test(method));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) await new Promise((resolve) => server.close(resolve));
  }

  get #endpoint(): string {
    return join(this.#options.registry, '..', `${this.#options.name}.sock`);
  }

  async #listen(path: string): Promise<void> {
    const server = createServer();
    server.on('stream', (stream, headers) => void this.#answer(stream, String(headers[':path'])));
    await new Promise<void>((resolve) => server.listen(path, resolve));
    this.#servers.push(server);
  }

  async #answer(stream: ServerHttp2Stream, path: string): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    const found = methods.find((each) => each.path === path);
    const method = path.split('/')[2] ?? '';
    if (!found) return this.#end(stream, { code: 12, message: `unknown ${path}` });
    const request = found.requestDeserialize(Buffer.concat(chunks).subarray(5)) as Record<string, unknown>;
    this.calls.push({ method, request });
    const failure = this.failures.get(method);
    if (failure) return this.#end(stream, failure);
    const reply = found.responseSerialize((await this.#perform(method, request)) as never);
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(reply.length, 1);
    this.#end(stream, { code: 0, message: '' }, Buffer.concat([prefix, reply]));
  }

  #end(stream: ServerHttp2Stream, { code, message: words }: { code: number; message: string }, reply?: Buffer): void {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': String(code), 'grpc-message': words }));
    stream.end(reply);
  }

  async #perform(method: string, { targetPath }: Record<string, unknown>): Promise<object> {
    const { name, data, stages, capabilities = [], canMount } = this.#options;
    const target = String(targetPath);
    switch (method) {
      case 'GetInfo':
        return { type: 'CSIPlugin', name, endpoint: this.#endpoint, supportedVersions: ['1.0.0'] };
      case 'NodeGetCapabilities':
        return { capabilities: [...(stages ? [2, 1] : []), ...capabilities].map((type) => ({ rpc: { type } })) };
      case 'NodeGetInfo':
        return {
          nodeId: `${name} on this node`,
          maxVolumesPerNode: 7,
          accessibleTopology: { segments: { 'disk.example.com/rack': 'r1' } },
        };
      case 'NodeGetVolumeStats':
        return {
          usage: [
            { available: 60, total: 100, used: 40, unit: 1 },
            { available: 7, total: 9, used: 2, unit: 2 },
          ],
        };
      case 'NodePublishVolume':
        await mkdir(target, { recursive: true });
        // It may be published again, to bring it up to date.
        if (canMount && !isMounted(target)) execFileSync('mount', ['--bind', data, target]);
        return {};
      case 'NodeUnpublishVolume':
        if (canMount) execFileSync('umount', [target]);
        await rmdir(target);
        return {};
      default:
        return {};
    }
  }
}

const isMounted = (path: string): boolean => readFileSync('/proc/self/mountinfo', 'utf8').includes(` ${path} `);
