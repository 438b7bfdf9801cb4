/** Opens the streams of a node's pods: logs, exec, attach and ports. Errors are ApiErrors in the words of kubelet. */
import type { Duplex } from 'node:stream';
import { ApiError } from '../../api/errors.ts';
import type { CommandStreams } from '../../api/remote-command/command-channels.ts';
import type { ProcessStreams } from '../../base/programs/process-streams.ts';
import { type ContainerLogRequest, containerLog } from '../logs/container-log.ts';
import { RuntimeError } from '../runtime/errors.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { checkCommand } from '../runtime/zero-bytes.ts';
import type { EndpointNode, ServedPod } from './endpoint-node.ts';

export interface PodName {
  readonly namespace: string;
  readonly pod: string;
  /** The pod must have this UID; undefined: any. */
  readonly uid?: string | undefined;
}

export interface ContainerName extends PodName {
  readonly container: string;
}

export class PodStreams {
  constructor(private readonly node: EndpointNode) {}

  logs(request: ContainerLogRequest): Promise<AsyncIterable<Buffer>> {
    return containerLog(this.#runtime(), request);
  }

  exec(target: ContainerName, streams: CommandStreams, command: readonly string[]): Promise<ProcessStreams> {
    return explained(async () => {
      checkCommand(command);
      return this.#runtime().exec(this.containerId(target), { ...streams, command });
    });
  }

  attach(target: ContainerName, streams: CommandStreams): Promise<ProcessStreams> {
    return explained(async () => this.#runtime().attach(this.containerId(target), { ...streams }));
  }

  portForward(target: PodName, port: number): Promise<Duplex> {
    return explained(async () => {
      const sandbox = this.#stateOf(target).sandboxes.find(({ isReady }) => isReady);
      if (!sandbox) throw new ApiError('InternalError', `pod "${target.pod}" does not run`);
      return this.#runtime().portForward(sandbox.id, port);
    });
  }

  /** Throws a NotFound when the agent has no such pod. */
  find({ namespace, pod, uid }: PodName): ServedPod {
    const found = this.node.find(namespace, pod);
    if (!found || (uid !== undefined && found.pod.metadata.uid !== uid)) {
      throw new ApiError('NotFound', `pod "${pod}" is not known to node "${this.node.name}"`);
    }
    return found;
  }

  #stateOf(target: PodName) {
    const { state } = this.find(target);
    if (!state) throw new ApiError('NotFound', `pod "${target.pod}" is not known to node "${this.node.name}"`);
    return state;
  }

  /** The running container of that name. Throws an ApiError when there is none. */
  containerId(target: ContainerName): string {
    const found = this.#stateOf(target).containers.find(({ name }) => name === target.container);
    const running = found?.records.find(({ state }) => state === 'running');
    if (running) return running.id;
    throw new ApiError('InternalError', `unable to upgrade connection: container not found ("${target.container}")`);
  }

  #runtime(): Runtime {
    const { runtime, name } = this.node;
    if (!runtime) throw new ApiError('ServiceUnavailable', `the runtime of node "${name}" is starting`);
    return runtime;
  }
}

async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RuntimeError) throw new ApiError('InternalError', error.message, { cause: error });
    throw error;
  }
}
