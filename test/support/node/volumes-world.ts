/** Volumes of a node on real directories, with an API of plain objects. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it as plainIt } from 'vitest';
import { silent } from '../../../src/base/log.ts';
import { systemRandom } from '../../../src/base/random.ts';
import { ControlledClock } from '../../../src/base/time/clock.ts';
import type { SeenPod } from '../../../src/node/pod/container-run.ts';
import type { TokenRequest, TrustBundleSelector, VolumesApi } from '../../../src/node/volumes/api.ts';
import { mountPointsBelow, parseMountInfo } from '../../../src/node/volumes/host/mount-table.ts';
import { openVolumes, type VolumesOptions } from '../../../src/node/volumes/open-volumes.ts';
import type { Volumes } from '../../../src/node/volumes/volumes.ts';
import { seenPod } from './seen-pod.ts';

/** True when mounts can be made here. The tests of mounts say so when they are skipped. */
export const isRoot = process.getuid?.() === 0;

/** Kinds of volumes that are never on a disk. */
const MEMORY_KINDS = ['secret', 'projected', 'downward-api'];

export class VolumesWorld implements AsyncDisposable {
  readonly root: string;
  readonly clock = new ControlledClock('2030-01-01T00:00:00Z');
  readonly volumes: Volumes;
  readonly configMaps = new Map<string, object>();
  readonly secrets = new Map<string, object>();
  readonly claims = new Map<string, object>();
  readonly persistentVolumes = new Map<string, object>();
  readonly csiDrivers = new Map<string, object>();
  readonly attachments = new Map<string, object>();
  /** Reports about drivers, volumes in use and claims that have grown. */
  readonly reports: unknown[] = [];
  readonly tokenRequests: (TokenRequest & { readonly serviceAccount: string })[] = [];
  readonly bundleRequests: TrustBundleSelector[] = [];
  bundles: string[] = [];
  /** Makes the next token requests fail. */
  tokenFailure: string | undefined;
  readonly #options: VolumesOptions;

  private constructor(root: string, options: Partial<VolumesOptions>) {
    this.root = root;
    this.#options = {
      root,
      nodeName: 'node-1',
      api: this.#api(),
      allocatable: () => ({ cpu: '4', memory: '8Gi' }),
      liveConfigVolumes: false,
      canMount: isRoot,
      clock: this.clock,
      random: systemRandom,
      log: silent,
      ...options,
    };
    this.volumes = openVolumes(this.#options);
  }

  static async create(options: Partial<VolumesOptions> = {}): Promise<VolumesWorld> {
    return new VolumesWorld(await realpath(await mkdtemp(join(tmpdir(), 'qd-volumes-'))), options);
  }

  /** The volumes as a new agent sees them after the old one has crashed. */
  restarted(options: Partial<VolumesOptions> = {}): Volumes {
    return openVolumes({ ...this.#options, ...options });
  }

  /** A directory of the node outside of the agent's. */
  elsewhere(name: string): string {
    return join(this.root, 'elsewhere', name);
  }

  path(kind: string, name: string, uid = 'u-1'): string {
    const isInMemory = isRoot && MEMORY_KINDS.includes(kind);
    const volumes = isInMemory ? join(this.root, 'memory', uid) : join(this.root, 'pods', uid, 'volumes');
    return join(volumes, `kubernetes.io~${kind}`, name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      for (const uid of await this.volumes.leftovers()) await this.volumes.release(uid);
      await this.volumes.close();
    } finally {
      // Also after a failure, nothing stays mounted, and nothing below a mount is removed.
      const entries = parseMountInfo(await readFile('/proc/self/mountinfo', 'utf8'));
      for (const point of mountPointsBelow(entries, this.root)) execFileSync('umount', ['-l', point]);
      await rm(this.root, { recursive: true, force: true });
    }
  }

  #api(): VolumesApi {
    return {
      configMap: async (namespace, name) => this.configMaps.get(`${namespace}/${name}`) as never,
      secret: async (namespace, name) => this.secrets.get(`${namespace}/${name}`) as never,
      claim: async (namespace, name) => this.claims.get(`${namespace}/${name}`) as never,
      persistentVolume: async (name) => this.persistentVolumes.get(name) as never,
      csiDriver: async (name) => this.csiDrivers.get(name) as never,
      csiDriverAdded: async (driver) => void this.reports.push({ added: driver }),
      csiDriverRemoved: async (name) => void this.reports.push({ removed: name }),
      volumeAttachment: async (name) => this.attachments.get(name) as never,
      reportVolumesInUse: async (names) => void this.reports.push({ inUse: names }),
      claimExpanded: async ({ metadata }, size) => void this.reports.push({ expanded: metadata.name, size }),
      createToken: async (_namespace, serviceAccount, request) => {
        if (this.tokenFailure !== undefined) throw new Error(this.tokenFailure);
        this.tokenRequests.push({ ...request, serviceAccount });
        const expires = this.clock.now() + request.expirationSeconds * 1000;
        return {
          token: `token-${this.tokenRequests.length}`,
          expirationTimestamp: new Date(expires).toISOString(),
        };
      },
      trustBundles: async (selector) => {
        this.bundleRequests.push(selector);
        return this.bundles;
      },
      pullImage: async (_pod, reference, policy) => `id of ${reference} (${policy})`,
    };
  }
}

/** Gives a test a world of its own. */
export const it = plainIt.extend<{ readonly w: VolumesWorld }>({
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads from the pattern that no other fixture is needed.
  w: async ({}, use) => {
    await using world = await VolumesWorld.create();
    await use(world);
  },
});

/** A pod with volumes, all of which its container mounts at `/NAME`. */
export function podWith(volumes: readonly object[], spec: object = {}, metadata: object = {}): SeenPod {
  const volumeMounts = volumes.map((volume) => {
    const { name } = volume as { name: string };
    return { name, mountPath: `/${name}` };
  });
  return seenPod(
    {
      containers: [{ name: 'c', image: 'i', resources: {}, volumeMounts }],
      volumes,
      serviceAccountName: 'robot',
      ...spec,
    },
    metadata,
  );
}
