import type { ConnectionReply } from '../../../../api/call.ts';
import type { ApiRequest } from '../../../objects/registry/api-request.ts';
import type { Core } from '../../core.ts';
import type { Subresource } from '../subresource.ts';
import { COMMAND_PARAMETERS, commandReply } from './command.ts';

/** Connects to the process of a container. */
export const attach: Subresource<'attach'> = {
  name: 'attach',
  operations: { get: open, create: open },
  content: { type: 'connection', optionsKind: () => 'PodAttachOptions' },
  parameters: COMMAND_PARAMETERS,
};

function open(core: Core, request: ApiRequest): Promise<ConnectionReply> {
  return commandReply(core, request, {
    action: 'attach',
    failure: 'error attaching to container',
    open: (target) => core.nodes.attach(target),
  });
}
