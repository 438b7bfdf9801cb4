/** Pulls the images of volumes. The work on a pod's volumes is done in turn, so that a pull must not hold it for long. */
import { getOrInsert } from '../../../base/collections/get-or-insert.ts';
import { type Clock, sleep } from '../../../base/time/clock.ts';
import type { SeenPod } from '../../pod/container-run.ts';
import { type PullSecret, podCredentials } from './keyring.ts';
import type { ImagePulls, PullEvent, PullPolicy, PullResult } from './pull.ts';

export interface VolumePullsOptions {
  /** The pulls of the node's images; read when the first image is needed. */
  readonly pulls: () => ImagePulls;
  readonly secret: (namespace: string, name: string) => Promise<PullSecret | undefined>;
  readonly clock: Clock;
  /** As with kubelet, the events are about the pod. */
  readonly emit: (pod: SeenPod, event: PullEvent) => void;
}

/** After that the plan tries again, and joins the pull that is under way. */
const MAX_WAIT_MS = 20_000;

export class VolumePulls {
  /** Running pulls by pod and image. */
  readonly #running = new Map<string, Promise<PullResult>>();

  constructor(private readonly options: VolumePullsOptions) {}

  /** Returns the id of the image. */
  async pull(pod: SeenPod, image: string, policy: string | undefined): Promise<string> {
    const key = `${pod.metadata.uid}/${image}`;
    const running = getOrInsert(this.#running, key, () => this.#start(pod, image, policy));
    const timeout = new AbortController();
    const late = sleep(this.options.clock, MAX_WAIT_MS, timeout.signal).then(
      () => 'late' as const,
      () => 'late' as const,
    );
    const result = await Promise.race([running, late]);
    timeout.abort();
    if (result === 'late') throw new Error(`the image "${image}" is still being pulled`);
    this.#running.delete(key);
    if (result.type === 'done') return result.imageId;
    throw new Error(`${result.reason}: ${result.message}`);
  }

  #start(pod: SeenPod, image: string, policy: string | undefined): Promise<PullResult> {
    const { pulls, secret, emit } = this.options;
    const credentials = async () => (await podCredentials(pod, image, secret)).credentials;
    return pulls().ensure({ image, policy: pullPolicy(image, policy), credentials }, (event) => emit(pod, event));
  }
}

/** As the API defaults it for containers. */
function pullPolicy(image: string, policy: string | undefined): PullPolicy {
  if (policy) return policy as PullPolicy;
  return /:latest$/.test(image) || !/[:@][^/]*$/.test(image) ? 'Always' : 'IfNotPresent';
}
