import { ApiError } from '../../../api/errors.ts';
import type { EndpointNode } from '../endpoint-node.ts';
import type { ContainerName, PodStreams } from '../pod-streams.ts';

const TIMEOUT_MS = 120_000;
const MAX_OUTPUT_BYTES = 1024 * 1024;

/** Runs a command to its end, and returns what it has written. Words are separated by spaces. */
export async function runCommand(
  target: ContainerName,
  command: string,
  { node, streams }: { readonly node: EndpointNode; readonly streams: PodStreams },
): Promise<Buffer> {
  const id = streams.containerId(target);
  const words = command.split(' ');
  const request = { command: words, timeoutMs: TIMEOUT_MS, maxBytes: MAX_OUTPUT_BYTES };
  const result = await node.runtime?.run(id, request);
  const output = Buffer.concat([result?.stdout ?? Buffer.alloc(0), result?.stderr ?? Buffer.alloc(0)]);
  if (result?.exitCode === 0) return output;
  throw new ApiError('InternalError', `command '${command}' exited with ${result?.exitCode}: ${output}`);
}
