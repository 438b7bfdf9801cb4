/** Makes sure that the image of a container is on the node, as its pull policy says. */
import type { Clock } from '../../../base/time/clock.ts';
import { imageNameError } from '../../pod/image-name.ts';
import { RuntimeError } from '../../runtime/errors.ts';
import type { Images, RegistryCredentials } from '../../runtime/runtime.ts';
import { hashOf, type PullRecords } from './pull-records.ts';

export type PullPolicy = 'Always' | 'IfNotPresent' | 'Never';

export interface PullRequest {
  readonly image: string;
  readonly policy: PullPolicy;
  /** Returns the credentials of the pod that fit the image. */
  readonly credentials: () => Promise<readonly RegistryCredentials[]>;
}

export interface PullEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export type PullResult =
  | { readonly type: 'done'; readonly imageId: string }
  | { readonly type: 'failed'; readonly reason: string; readonly message: string };

export interface PullsOptions {
  readonly images: Pick<Images, 'find' | 'pull' | 'isBuiltIn'>;
  readonly clock: Clock;
  readonly records: PullRecords;
}

export class ImagePulls {
  /** The last pull of an image that was asked for; the next one waits for it. */
  readonly #last = new Map<string, Promise<unknown>>();

  constructor(private readonly options: PullsOptions) {}

  /** Never rejects. */
  async ensure(request: PullRequest, emit: (event: PullEvent) => void): Promise<PullResult> {
    const { image, policy } = request;
    const invalid = imageNameError(image);
    if (invalid) {
      const message = `Failed to apply default image tag "${image}": ${invalid}`;
      emit({ type: 'Warning', reason: 'InspectFailed', message });
      return this.#failed(emit, 'InvalidImageName', message);
    }
    try {
      const mayBePresent = policy !== 'Always' || this.options.images.isBuiltIn?.(image);
      const present = mayBePresent ? await this.#present(request, emit) : undefined;
      return present ?? (await this.#pull(request, emit));
    } catch (error) {
      const { message } = error as Error;
      emit({ type: 'Warning', reason: 'InspectFailed', message: `Failed to inspect image "${image}": ${message}` });
      return this.#failed(emit, 'ImageInspectError', `Failed to inspect image "${image}": ${message}`);
    }
  }

  /** An image that the pod may not use is as if it were not there. */
  async #present(request: PullRequest, emit: (event: PullEvent) => void): Promise<PullResult | undefined> {
    const { image, policy } = request;
    const found = await this.options.images.find(image);
    if (found && (await this.#mayUse(request, found.id))) {
      const message = `Container image "${image}" already present on machine and can be accessed by the pod`;
      emit({ type: 'Normal', reason: 'Pulled', message });
      return { type: 'done', imageId: found.id };
    }
    if (policy !== 'Never') return undefined;
    const message = `Container image "${image}" is not present with pull policy of Never`;
    emit({ type: 'Warning', reason: 'ErrImageNeverPull', message });
    return this.#failed(emit, 'ErrImageNeverPull', message);
  }

  async #mayUse({ image, credentials }: PullRequest, imageId: string): Promise<boolean> {
    const access = await this.options.records.access(image, imageId);
    if (typeof access === 'string') return access === 'everyone';
    return (await credentials()).some((each) => access.hashes.includes(hashOf(each)));
  }

  /** Pulls after the pulls of the same image that are under way; one that came meanwhile need not be pulled again. */
  async #pull(request: PullRequest, emit: (event: PullEvent) => void): Promise<PullResult> {
    const { image } = request;
    const askedAt = this.options.clock.now();
    const before = this.#last.get(image);
    const pulling = (before ?? Promise.resolve())
      .catch(() => undefined)
      .then(() => this.#pullNow(request, { isSecond: before !== undefined, askedAt }, emit));
    this.#last.set(image, pulling);
    try {
      return await pulling;
    } finally {
      if (this.#last.get(image) === pulling) this.#last.delete(image);
    }
  }

  async #pullNow(
    { image, policy, credentials }: PullRequest,
    { isSecond, askedAt }: { readonly isSecond: boolean; readonly askedAt: number },
    emit: (event: PullEvent) => void,
  ): Promise<PullResult> {
    const { images, clock } = this.options;
    if (isSecond && policy === 'IfNotPresent') {
      const present = await this.#present({ image, policy, credentials }, emit);
      if (present) return present;
    }
    emit({ type: 'Normal', reason: 'Pulling', message: `Pulling image "${image}"` });
    const startedAt = clock.now();
    try {
      const imageId = await this.#pullWithAny(image, await credentials());
      const now = clock.now();
      const size = (await images.find(imageId))?.bytes ?? 0;
      const took = `${duration(now - startedAt)} (${duration(now - askedAt)} including waiting)`;
      const message = `Successfully pulled image "${image}" in ${took}. Image size: ${size} bytes.`;
      emit({ type: 'Normal', reason: 'Pulled', message });
      return { type: 'done', imageId };
    } catch (error) {
      const { message } = error as Error;
      emit({ type: 'Warning', reason: 'Failed', message: `Failed to pull image "${image}": ${message}` });
      const reason = reasonOf(error);
      return this.#failed(emit, reason, worded(reason, image, message));
    }
  }

  /** Tries one after the other; the registry knows which of them it accepts. */
  async #pullWithAny(image: string, credentials: readonly RegistryCredentials[]): Promise<string> {
    const { images, records } = this.options;
    if (credentials.length > 0) await records.begin(image);
    const failures: unknown[] = [];
    for (const each of credentials.length > 0 ? credentials : [undefined]) {
      try {
        const imageId = await images.pull(image, each);
        await records.end(image, imageId, each);
        return imageId;
      } catch (error) {
        failures.push(error);
      }
    }
    await records.end(image, undefined, undefined);
    throw failures[0];
  }

  #failed(emit: (event: PullEvent) => void, reason: string, message: string): PullResult {
    emit({ type: 'Warning', reason: 'Failed', message: `Error: ${reason}` });
    return { type: 'failed', reason, message };
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof RuntimeError)) return 'ErrImagePull';
  switch (error.code) {
    case 'RegistryUnavailable':
    case 'SignatureValidationFailed':
      return error.code;
    default:
      return 'ErrImagePull';
  }
}

/** As kubelet words what a runtime tells apart. */
function worded(reason: string, image: string, message: string): string {
  switch (reason) {
    case 'RegistryUnavailable':
      return `image pull failed for ${image} because the registry is unavailable: ${message}`;
    case 'SignatureValidationFailed':
      return `image pull failed for ${image} because the signature validation failed: ${message}`;
    default:
      return message;
  }
}

/** As Go prints it: `1.204s`, `35ms`. */
function duration(milliseconds: number): string {
  return milliseconds < 1_000 ? `${milliseconds}ms` : `${milliseconds / 1_000}s`;
}
