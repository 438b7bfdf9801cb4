/** Pulls images from registries. */
import type { DialGuard } from '../../../base/sockets/dial/dial-guard.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { RuntimeError } from '../../runtime/errors.ts';
import type { Descriptor, Platform } from '../content/descriptor.ts';
import { checkRoom } from '../content/disk-room.ts';
import { type Manifest, parseManifest } from '../content/documents.ts';
import { choosePlatform } from '../content/platform.ts';
import { fullName } from '../reference.ts';
import type { ImageSource, PullRequest } from '../store/directory-store.ts';
import { hostsOf, type RegistrySettings } from './hosts.ts';
import { PullProgress } from './pull-progress.ts';
import { RegistrySession } from './session.ts';

/** Number of blobs fetched at a time, as in containerd. */
const MAX_CONCURRENT_BLOBS = 3;
/** Limit for indexes that name other indexes; real images nest no deeper. */
const MAX_INDEX_DEPTH = 3;

type Pulled = Awaited<ReturnType<ImageSource['pull']>>;

export class Registry implements ImageSource {
  /** `guard` checks where images, and the registries that have them, lead to. */
  constructor(
    private readonly settings: RegistrySettings,
    private readonly clock: Clock,
    private readonly guard: DialGuard,
  ) {}

  /** Asks mirrors first. The error is that of the last host: the registry itself. */
  async pull(request: PullRequest): Promise<Pulled> {
    const { reference } = request;
    const hosts = hostsOf(reference.registry, this.settings);
    const mirrors = this.settings.mirrors[reference.registry]?.length ?? 0;
    for (const [position, host] of hosts.entries()) {
      const isMirror = position < mirrors;
      const progress = new PullProgress(this.clock);
      const session = new RegistrySession({
        host,
        repository: reference.repository,
        // They are not a mirror's business.
        credentials: isMirror ? undefined : request.credentials,
        mirrorOf: isMirror ? reference.registry : undefined,
        progress,
        guard: this.guard,
      });
      try {
        return await pullFrom(session, request);
      } catch (error) {
        if (position === hosts.length - 1) throw explained(fullName(reference), error);
      } finally {
        progress.end();
      }
    }
    throw new Error('a registry has at least one host');
  }
}

async function pullFrom(session: RegistrySession, request: PullRequest): Promise<Pulled> {
  const { reference, platform, ingest } = request;
  const top = await session.manifest(reference.digest ?? reference.tag!);
  const { digest, bytes, manifest } = await resolve(session, top, platform, 0);
  await ingest.add([bytes]);
  await fetchBlobs(session, [manifest.config, ...manifest.layers], request);
  return { digest: top.digest, image: { digest, manifest } };
}

async function resolve(
  session: RegistrySession,
  found: { readonly digest: string; readonly bytes: Buffer },
  platform: Platform,
  depth: number,
): Promise<{ digest: string; bytes: Buffer; manifest: Manifest }> {
  const parsed = parseManifest(`manifest ${found.digest}`, found.bytes);
  if (parsed.type === 'manifest') return { ...found, manifest: parsed };
  const chosen = choosePlatform(parsed.manifests, platform);
  if (!chosen || depth >= MAX_INDEX_DEPTH) {
    throw new RuntimeError('ImageNotFound', `no match for platform in manifest: not found`);
  }
  return resolve(session, await session.manifest(chosen.digest), platform, depth + 1);
}

async function fetchBlobs(session: RegistrySession, blobs: readonly Descriptor[], { ingest, has }: PullRequest) {
  // Layers may occur twice.
  const queue: Descriptor[] = [];
  for (const blob of new Map(blobs.map((each) => [each.digest, each])).values()) {
    if (!(await has(blob.digest))) queue.push(blob);
  }
  await checkRoom(
    ingest.directory,
    'the image',
    queue.reduce((sum, { size }) => sum + size, 0),
  );
  const work = async () => {
    try {
      for (let blob = queue.shift(); blob; blob = queue.shift()) {
        await ingest.add(session.blob(blob), blob);
      }
    } finally {
      queue.length = 0;
    }
  };
  const workers = Array.from({ length: MAX_CONCURRENT_BLOBS }, work);
  // All of them have to end before the ingest is removed.
  const failed = (await Promise.allSettled(workers)).find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}

/** Returns the error in the wording of containerd. */
function explained(name: string, error: unknown): RuntimeError {
  const code = error instanceof RuntimeError ? error.code : 'Unknown';
  const message = error instanceof Error ? error.message : String(error);
  return new RuntimeError(
    code,
    `failed to pull and unpack image "${name}": failed to resolve reference "${name}": ${message}`,
    {
      cause: error,
    },
  );
}
