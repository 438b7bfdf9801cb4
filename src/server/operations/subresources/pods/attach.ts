import type { ConnectionReply } from '../../../../api/reply.ts';
import type { ApiRequest } from '../../../objects/registry/registry.ts';
import type { Subresource } from '../subresource.ts';
import { COMMAND_PARAMETERS, type CommandPorts, commandReply } from './command.ts';

export const attach: Subresource<'attach'> = {
  name: 'attach',
  operations: { get: open, create: open },
  content: { type: 'connection', optionsKind: () => 'PodAttachOptions' },
  parameters: COMMAND_PARAMETERS,
};

function open(core: CommandPorts, request: ApiRequest): Promise<ConnectionReply> {
  return commandReply(core, request, {
    action: 'attach',
    failure: 'error attaching to container',
    open: (target) => core.nodes.attach(target),
  });
}
