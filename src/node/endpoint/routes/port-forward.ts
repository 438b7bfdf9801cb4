import { badRequest } from '../../../api/errors.ts';
import { isPort } from '../../../api/remote-command/spdy-ports.ts';
import { portUpgrade } from '../../../api/remote-command/upgrade.ts';
import type { PodName, PodStreams } from '../pod-streams.ts';
import type { UpgradeExchange } from '../upgrade-exchange.ts';

/** Connects the client with ports of a pod. Resolves when the client has gone. */
export async function servePortForward(
  exchange: UpgradeExchange,
  { target, query }: { readonly target: PodName; readonly query: URLSearchParams },
  streams: PodStreams,
): Promise<void> {
  const ports = query.getAll('port').flatMap((value) => value.split(',').map(portOf));
  streams.find(target);
  const upgrade = portUpgrade(exchange, ports, {
    connect: (port) => streams.portForward(target, port),
    // The server says which port of which pod it was.
    describe: (_port, { message }) => message,
  });
  await upgrade.start(exchange.accept(upgrade.headers));
}

function portOf(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || !isPort(port)) throw badRequest(`unable to parse ${JSON.stringify(text)} as a port`);
  return port;
}
