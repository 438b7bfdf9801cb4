import type { ConnectionReply } from '../../../../api/reply.ts';
import type { Reader, Tools } from '../../../objects/ports.ts';
import type { ApiRequest } from '../../../objects/registry/registry.ts';
import type { Outbound } from '../../../outbound/ports.ts';
import type { Subresource } from '../subresource.ts';
import { COMMAND_PARAMETERS, commandReply } from './command.ts';

type Ports = Pick<Reader, 'cache'> & Pick<Tools, 'clock'> & Pick<Outbound, 'nodes'>;

export const attach: Subresource<'attach'> = {
  name: 'attach',
  operations: { get: open, create: open },
  content: { type: 'connection', optionsKind: () => 'PodAttachOptions' },
  parameters: COMMAND_PARAMETERS,
};

function open(core: Ports, request: ApiRequest): Promise<ConnectionReply> {
  return commandReply(core, request, {
    action: 'attach',
    failure: 'error attaching to container',
    open: (target) => core.nodes.attach(target),
  });
}
