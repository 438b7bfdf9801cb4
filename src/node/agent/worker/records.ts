/** Turns what the runtime reports into what plans read. */
import type { SeenPod } from '../../pod/container-run.ts';
import type { ContainerRecord, SandboxRecord } from '../../pod/plan/state.ts';
import type { Container, Sandbox } from '../../runtime/runtime.ts';
import type { Volumes } from '../../volumes/volumes.ts';
import { containerNamed } from '../actions/containers.ts';
import { isOnNodeNetwork, type NodeFacts } from '../actions/context.ts';
import type { PodRecords } from '../runtime-view.ts';
import { terminationMessage } from './termination.ts';

export interface RecordsOptions {
  readonly volumes: Pick<Volumes, 'terminationMessageFile'>;
  /** The scheme of container ids in the status: `containerd`. */
  readonly scheme: string;
  readonly node: () => Pick<NodeFacts, 'hostIPs' | 'sharesNetwork'>;
}

export interface ReadRecords {
  readonly sandboxes: readonly SandboxRecord[];
  readonly containers: readonly ContainerRecord[];
}

/** Reads each termination message once. */
export class Records {
  /** Records of containers that have ended, by id. */
  readonly #ended = new Map<string, ContainerRecord>();

  constructor(private readonly options: RecordsOptions) {}

  async read(pod: SeenPod, { sandboxes, containers }: PodRecords): Promise<ReadRecords> {
    const ids = new Set(containers.map(({ id }) => id));
    for (const id of this.#ended.keys()) if (!ids.has(id)) this.#ended.delete(id);
    const records = [];
    for (const container of containers) records.push(await this.#record(pod, container));
    return { sandboxes: sandboxes.map((each) => this.#sandbox(pod, each)), containers: records };
  }

  /** A pod on the network of the node has the node's addresses. */
  #sandbox(pod: SeenPod, { id, attempt, isReady, createdAt, addresses }: Sandbox): SandboxRecord {
    const node = this.options.node();
    const own = isOnNodeNetwork(pod, node) ? node.hostIPs : addresses;
    return { id, attempt, isReady, createdAt, addresses: own };
  }

  async #record(pod: SeenPod, container: Container): Promise<ContainerRecord> {
    const known = this.#ended.get(container.id);
    if (known) return known;
    const { id, sandboxId, name, attempt, state, startedAt, finishedAt, exitCode, image, imageId } = container;
    const record = {
      id,
      sandboxId,
      name,
      attempt,
      state,
      startedAt,
      finishedAt,
      exitCode,
      image,
      imageId,
      statusId: `${this.options.scheme}://${id}`,
      reason: container.reason,
      message: state === 'exited' ? await this.#message(pod, container) : container.message,
    };
    if (state === 'exited') this.#ended.set(id, record);
    return record;
  }

  #message(pod: SeenPod, record: Container): Promise<string | undefined> {
    const { uid = '' } = pod.metadata;
    const file = this.options.volumes.terminationMessageFile(uid, record.name, record.attempt);
    return terminationMessage({ record, file, container: containerNamed(pod, record.name)?.container });
  }
}
