import type { Method } from '../../protocols/grpc/call.ts';
import { type GrpcError, GrpcStatus } from '../../protocols/grpc/status.ts';
import type { Decoded } from '../../protocols/protobuf/message.ts';
import type { Connection } from './calls/connection.ts';
import { runtimeError } from './calls/errors.ts';
import { containerdApi, cri } from './calls/methods.ts';
import { type EventEnvelope, TaskExit } from './messages/containerd.ts';

interface EventFollower {
  readonly signal: AbortSignal;
  /** Called when the runtime has events, before the first one. */
  started(): void;
  event(): void;
}

const TOPICS = ['/tasks/start', '/tasks/exit', '/tasks/oom'].map((topic) => `topic=="${topic}"`);

/**
 * Follows the events of a runtime: those of CRI (containerd 1.7 and newer), or else those of containerd itself.
 * Resolves when they have ended, or when the runtime has neither. Rejects with RuntimeError when the runtime cannot be
 * reached.
 */
export async function followEvents(connection: Connection, follower: EventFollower): Promise<'ended' | 'unsupported'> {
  const end = await follow(connection, cri.events, {}, follower, () => true);
  if (end !== 'unsupported') return end;
  return follow(connection, containerdApi.events, { filters: TOPICS }, follower, isOfContainer);
}

/** Commands that are run in a container end with the same event, under another id. */
function isOfContainer({ topic, event }: Decoded<typeof EventEnvelope>): boolean {
  if (topic !== '/tasks/exit' || !event) return true;
  const { containerId, id } = TaskExit.decode(event.value);
  return containerId === id;
}

async function follow<In, Out>(
  connection: Connection,
  method: Method<In, Out>,
  request: In,
  { signal, started, event }: EventFollower,
  matters: (message: Out) => boolean,
): Promise<'ended' | 'unsupported'> {
  let settle: (error: GrpcError | undefined) => void;
  const end = new Promise<GrpcError | undefined>((resolve) => {
    settle = resolve;
  });
  const stream = await connection.follow(method, request, {
    message: (message) => {
      started();
      if (matters(message)) event();
    },
    ended: (error) => settle(error),
  });
  const cancel = () => {
    stream.cancel();
    settle(undefined);
  };
  if (signal.aborted) cancel();
  signal.addEventListener('abort', cancel, { once: true });
  const error = await end;
  signal.removeEventListener('abort', cancel);
  if (error?.code === GrpcStatus.UNIMPLEMENTED) return 'unsupported';
  if (error) throw runtimeError(error);
  return 'ended';
}
