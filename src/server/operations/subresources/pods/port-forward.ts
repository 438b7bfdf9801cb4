import { badRequest } from '../../../../api/errors.ts';
import type { ParameterValues, QueryParameters } from '../../../../api/parameters.ts';
import { isPort } from '../../../../api/remote-command/spdy-ports.ts';
import { portUpgrade } from '../../../../api/remote-command/upgrade.ts';
import type { ConnectionReply } from '../../../../api/reply.ts';
import type { Reader } from '../../../objects/ports.ts';
import type { ApiRequest } from '../../../objects/registry/registry.ts';
import type { Outbound } from '../../../outbound/ports.ts';
import type { Subresource } from '../subresource.ts';
import { nodeFor, podFor } from './pod-stream.ts';

type Ports = Pick<Reader, 'cache'> & Pick<Outbound, 'nodes'>;

const PARAMETERS = {
  ports: { type: 'strings', description: 'Ports to connect to. Required with a WebSocket.' },
} as const satisfies QueryParameters;

export const portForward: Subresource<'portforward'> = {
  name: 'portforward',
  operations: { get: open, create: open },
  content: { type: 'connection', optionsKind: () => 'PodPortForwardOptions' },
  parameters: PARAMETERS,
};

async function open(core: Ports, request: ApiRequest): Promise<ConnectionReply> {
  const { call } = request;
  const { ports = [] } = (call.parameters ?? {}) as ParameterValues<typeof PARAMETERS>;
  const requested = portsOf(ports);
  const pod = await podFor(core, request);
  const node = nodeFor(core, pod, 'portforward');
  if (pod.status.phase !== 'Running') {
    throw badRequest(`unable to forward port because pod is not running. Current status=${pod.status.phase}`);
  }
  const { namespace = '', name = '' } = call;
  const uid = pod.metadata.uid ?? '';
  return {
    type: 'connection',
    async serve(client) {
      const upgrade = portUpgrade(client, requested, {
        connect: (port) => core.nodes.portForward({ node, namespace, pod: name, port, signal: client.signal }),
        describe: (port, { message }) =>
          `error forwarding port ${port} to pod ${name}_${namespace}, uid ${uid}: ${message}`,
      });
      await upgrade.start(client.upgrade(upgrade.headers));
    },
  };
}

/** Parses ports. A parameter may contain several, separated by commas. */
function portsOf(parameters: readonly string[]): number[] {
  return parameters
    .flatMap((parameter) => parameter.split(','))
    .map((text) => {
      const port = Number(text);
      if (!/^\d+$/.test(text) || !isPort(port)) throw badRequest(`unable to parse ${JSON.stringify(text)} as a port`);
      return port;
    });
}
