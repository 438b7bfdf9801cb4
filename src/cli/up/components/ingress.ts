/** Runs the built-in Ingress controller beside nodes with real pods. */
import { createClient } from '../../../client/client.ts';
import { INGRESS_CONTROLLER } from '../../../client/component-users.ts';
import { directTransport } from '../../../client/transport/direct-transport.ts';
import type { AttachedDaemon } from '../../../network/daemon/attached-daemon.ts';
import type { MovedPort } from '../../../network/ingress/controller.ts';
import type { Server } from '../../../server/index.ts';
import { CliError } from '../../output/cli-error.ts';
import type { Say } from '../../output/steps.ts';
import type { StartContext } from '../context.ts';
import type { Settings } from '../flags.ts';
import { reachableAddress } from '../listeners/addresses.ts';
import type { OpenPort } from '../listeners/open-ports.ts';
import type { OpeningNetwork } from './network.ts';

const DEFAULT_PORTS = { http: 80, https: 443 } as const;

interface Listening {
  /** Where it listens, for people to read. */
  readonly urls: readonly string[];
  readonly movedPorts: readonly MovedPort[];
}

async function listen(daemon: AttachedDaemon, settings: Settings, openPorts: OpenPort[]): Promise<Listening> {
  const { bindAddress: address } = settings;
  const urls: string[] = [];
  const movedPorts: MovedPort[] = [];
  for (const protocol of ['http', 'https'] as const) {
    const given = protocol === 'http' ? settings.ingressHttpPort : settings.ingressHttpsPort;
    let why: MovedPort['why'] = 'PortInUse';
    const claim = { kinds: [protocol], address, port: given ?? DEFAULT_PORTS[protocol] };
    const port = await daemon.listen(claim).catch((error: NodeJS.ErrnoException) => {
      if (given !== undefined) {
        throw new CliError(`--ingress-${protocol}-port: ${address}:${given} cannot be used: ${error.message}`);
      }
      if (error.code === 'EACCES') why = 'PortNotAllowed';
      return daemon.listen({ ...claim, port: 0 });
    });
    if (given === undefined && port !== DEFAULT_PORTS[protocol]) {
      movedPorts.push({ usual: DEFAULT_PORTS[protocol], used: port, why });
    }
    urls.push(`${protocol}://${address}:${port}`);
    openPorts.push({ address, port, what: `Ingress, ${protocol.toUpperCase()}` });
  }
  return { urls, movedPorts };
}

/** Resolves when it listens. Rules of Ingresses are followed a moment later. */
export async function startIngress(
  { settings, cleanup, clock, random, log, openPorts }: StartContext,
  { network, server }: { readonly network: OpeningNetwork; readonly server: Server },
  say: Say,
): Promise<void> {
  const { IngressController } = await import('../../../network/ingress/controller.ts');
  const daemon = await network.daemon;
  const { urls, movedPorts } = await listen(daemon, settings, openPorts);
  const address = reachableAddress(settings.bindAddress, settings.serviceClusterIpRange);
  const client = createClient(directTransport(server.direct(INGRESS_CONTROLLER)));
  const controller = new IngressController({
    ...{ client, clock, random, log, address, movedPorts },
    policy: {
      sharesHosts: settings.ingressShareHosts === true,
      allowsExternalNames: settings.ingressAllowExternalNames === true,
    },
    use: (config) => daemon.use(config),
  });
  cleanup.add(() => controller.stop());
  const started = controller.start();
  network.awaits(started);
  started.catch((error) => log.error('the Ingress controller does not follow the API', { error }));
  say(urls.join(', '));
}
