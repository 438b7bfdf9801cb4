import { badRequest } from '../../../../api/errors.ts';
import type { ParameterValues, QueryParameters } from '../../../../api/parameters.ts';
import type { ConnectionReply } from '../../../../api/reply.ts';
import type { ApiRequest } from '../../../objects/registry/registry.ts';
import type { Subresource } from '../subresource.ts';
import { COMMAND_PARAMETERS, type CommandPorts, commandReply } from './command.ts';

const PARAMETERS = {
  ...COMMAND_PARAMETERS,
  command: { type: 'strings', description: 'Program to run and its arguments, one per parameter; not run in a shell.' },
} as const satisfies QueryParameters;

export const exec: Subresource<'exec'> = {
  name: 'exec',
  operations: { get: open, create: open },
  content: { type: 'connection', optionsKind: () => 'PodExecOptions' },
  parameters: PARAMETERS,
};

async function open(core: CommandPorts, request: ApiRequest): Promise<ConnectionReply> {
  const { command = [] } = (request.call.parameters ?? {}) as ParameterValues<typeof PARAMETERS>;
  return commandReply(core, request, {
    action: 'exec',
    failure: 'error executing command in container',
    open(target) {
      if (command.length === 0) throw badRequest('you must specify at least one command for the container');
      return core.nodes.exec({ ...target, command });
    },
  });
}
