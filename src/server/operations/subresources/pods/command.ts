/** The common part of exec and attach: connects the client with a process of a container. */

import { badRequest } from '../../../../api/errors.ts';
import type { ParameterValues, QueryParameters } from '../../../../api/parameters.ts';
import type { CommandStreams } from '../../../../api/remote-command/command-channels.ts';
import { serveCommand } from '../../../../api/remote-command/serve-command.ts';
import { commandUpgrade } from '../../../../api/remote-command/upgrade.ts';
import type { ConnectionReply } from '../../../../api/reply.ts';
import type { ProcessStreams } from '../../../../base/programs/process-streams.ts';
import type { Pod } from '../../../../kinds/groups/core/pod/pod.ts';
import type { Reader, Tools } from '../../../objects/ports.ts';
import type { ApiRequest } from '../../../objects/registry/registry.ts';
import type { AttachRequest } from '../../../outbound/nodes/connection.ts';
import type { Outbound } from '../../../outbound/ports.ts';
import { nodeFor, podFor } from './pod-stream.ts';

export type CommandPorts = Pick<Reader, 'cache'> & Pick<Tools, 'clock'> & Pick<Outbound, 'nodes'>;

export const COMMAND_PARAMETERS = {
  container: { type: 'string', description: 'Container to connect to. Optional if the pod has only one.' },
  stderr: { type: 'boolean', description: 'Whether to receive the standard error of the process.' },
  stdin: { type: 'boolean', description: 'Whether to send standard input to the process.' },
  stdout: { type: 'boolean', description: 'Whether to receive the standard output of the process.' },
  tty: { type: 'boolean', description: 'Whether the process has a terminal. Its output is then all on stdout.' },
} as const satisfies QueryParameters;

interface CommandOptions {
  readonly action: 'exec' | 'attach';
  /** Prefix of the message when the process has no exit code. */
  readonly failure: string;
  open(target: AttachRequest): Promise<ProcessStreams>;
}

/** Checks the request, and connects the client with the process once the client connection is ready. */
export async function commandReply(
  core: CommandPorts,
  request: ApiRequest,
  { action, failure, open }: CommandOptions,
): Promise<ConnectionReply> {
  const { call } = request;
  const parameters = (call.parameters ?? {}) as ParameterValues<typeof COMMAND_PARAMETERS>;
  const pod = await podFor(core, request);
  const container = containerNamed(pod, parameters.container);
  const node = nodeFor(core, pod, action);
  const streams = streamsOf(parameters);
  const { namespace = '', name = '' } = call;
  return {
    type: 'connection',
    async serve(client) {
      const upgrade = commandUpgrade(client, streams, core.clock);
      const process = await open({ node, namespace, pod: name, container, streams, signal: client.signal });
      try {
        const channels = await upgrade.start(client.upgrade(upgrade.headers));
        await serveCommand(process, channels, { failure });
      } finally {
        process.close();
      }
    },
  };
}

/** Returns the requested streams. Throws a BadRequest when there are none. */
function streamsOf(parameters: ParameterValues<typeof COMMAND_PARAMETERS>): CommandStreams {
  const { stdin = false, stdout = false, stderr = false, tty = false } = parameters;
  const streams = { stdin, stdout, stderr: stderr && !tty, tty };
  if (!streams.stdin && !streams.stdout && !streams.stderr) {
    throw badRequest('you must specify at least 1 of stdin, stdout, stderr');
  }
  return streams;
}

/** Returns the container that a request names, or the only one. Throws a BadRequest for none, or several. */
export function containerNamed({ metadata, spec }: Pod, requested: string | undefined): string {
  const { initContainers = [], containers, ephemeralContainers = [] } = spec;
  const names = [...initContainers, ...containers, ...ephemeralContainers].map(({ name }) => name);
  if (requested) {
    if (names.includes(requested)) return requested;
    throw badRequest(`container ${requested} is not valid for pod ${metadata.name}`);
  }
  const [only] = containers;
  if (only && containers.length === 1) return only.name;
  throw badRequest(`a container name must be specified for pod ${metadata.name}, choose one of: [${names.join(' ')}]`);
}
