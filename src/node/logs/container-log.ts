import { badRequest } from '../../api/errors.ts';
import type { Container, Runtime } from '../runtime/runtime.ts';
import { type LogSelection, readLog } from './read-log.ts';

/** A container's log, as the server asks for it. */
export interface ContainerLogRequest extends Omit<LogSelection, 'stream'> {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  /** True for the log of the previous container. */
  readonly previous: boolean;
  readonly stream: 'Stdout' | 'Stderr' | undefined;
  readonly signal: AbortSignal | undefined;
}

type LogRuntime = Pick<Runtime, 'sandboxes' | 'containers' | 'container' | 'onChange'>;

/** Finds the log of a container and reads it as it is consumed. Rejects with a BadRequest in the words of kubelet. */
export async function containerLog(runtime: LogRuntime, request: ContainerLogRequest): Promise<AsyncIterable<Buffer>> {
  const { pod, container, previous, stream, signal } = request;
  const instances = await instancesOf(runtime, request);
  const started = instances.filter(({ state }) => state !== 'created');
  const found = previous ? started.find(({ state }, index) => index > 0 || isOver(state, instances)) : started[0];
  if (!found && previous) throw badRequest(`previous terminated container "${container}" in pod "${pod}" not found`);
  if (!found) throw badRequest(`container "${container}" in pod "${pod}" is waiting to start: ContainerCreating`);
  const end = request.follow ? endOf(runtime, found.id) : undefined;
  const source = { path: found.logPath, ended: end?.ended ?? Promise.resolve(), signal };
  const selection = { ...request, stream: stream && STREAM_NAMES[stream] };
  return end ? stopping(readLog(source, selection), end.stop) : readLog(source, selection);
}

const STREAM_NAMES = { Stdout: 'stdout', Stderr: 'stderr' } as const;

/** The last one that ran is the previous one when its successor exists but has not been started. */
function isOver(state: Container['state'], instances: readonly Container[]): boolean {
  return state === 'exited' && instances[0]?.state === 'created';
}

/** The instances of a container, newest first. */
async function instancesOf(
  runtime: LogRuntime,
  { namespace, pod, container }: ContainerLogRequest,
): Promise<readonly Container[]> {
  const [sandboxes, containers] = await Promise.all([runtime.sandboxes(), runtime.containers()]);
  const own = new Set(
    sandboxes.filter((each) => each.pod.namespace === namespace && each.pod.name === pod).map(({ id }) => id),
  );
  return containers
    .filter(({ sandboxId, name }) => own.has(sandboxId) && name === container)
    .sort((a, b) => b.attempt - a.attempt || b.createdAt - a.createdAt);
}

/** When a container has ended, or is gone. */
function endOf(runtime: LogRuntime, id: string): { readonly ended: Promise<void>; stop(): void } {
  let stop: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    const check = async () => {
      const current = await runtime.container(id).catch(() => undefined);
      if (current?.state !== 'running') resolve();
    };
    stop = runtime.onChange(() => void check());
    void check();
  });
  void ended.then(() => stop());
  return { ended, stop: () => stop() };
}

async function* stopping(log: AsyncIterable<Buffer>, stop: () => void): AsyncGenerator<Buffer> {
  try {
    yield* log;
  } finally {
    stop();
  }
}
