/** Runs the built-in Ingress controller beside nodes with real pods. */
import { createClient } from '../../../client/client.ts';
import { INGRESS_CONTROLLER } from '../../../client/component-users.ts';
import { directTransport } from '../../../client/transport/direct-transport.ts';
import type { MovedPort } from '../../../network/ingress/controller.ts';
import type { Server } from '../../../server/index.ts';
import { CliError } from '../../output/cli-error.ts';
import type { Say } from '../../output/steps.ts';
import type { StartContext } from '../context.ts';
import { addressForPods, advertisedAddress } from '../listeners/addresses.ts';
import { hasRealPods } from './plan-nodes.ts';

const DEFAULT_PORTS = { http: 80, https: 443 } as const;

/** Whether a start runs it. */
export function hasIngress({ settings, inputs }: StartContext): boolean {
  return settings.ingress !== false && hasRealPods(inputs.nodes);
}

/** Resolves when it listens. Rules of Ingresses are followed a moment later. */
export async function startIngress(context: StartContext, server: Server, say: Say): Promise<void> {
  const { settings, cleanup, clock, random, log } = context;
  const [{ IngressController }, { openIngressProxy }] = await Promise.all([
    import('../../../network/ingress/controller.ts'),
    import('./ingress-thread.ts'),
  ]);
  const { bindAddress, serviceClusterIpRange } = settings;
  const forPods = addressForPods(bindAddress);
  const addresses = [bindAddress, ...(forPods === undefined ? [] : [forPods])];
  const proxy = await openIngressProxy({ clock, random, log });
  cleanup.add(() => proxy.close());
  const ports: string[] = [];
  const movedPorts: MovedPort[] = [];
  for (const protocol of ['http', 'https'] as const) {
    const given = protocol === 'http' ? settings.ingressHttpPort : settings.ingressHttpsPort;
    let port = given ?? DEFAULT_PORTS[protocol];
    for (const address of addresses) {
      port = await proxy.listen(protocol, address, port).catch((error: NodeJS.ErrnoException) => {
        if (given !== undefined) {
          throw new CliError(`--ingress-${protocol}-port: ${address}:${given} cannot be used: ${error.message}`);
        }
        // The usual port is taken by something else, or needs root.
        return proxy.listen(protocol, address, 0);
      });
    }
    if (given === undefined && port !== DEFAULT_PORTS[protocol]) {
      movedPorts.push({ usual: DEFAULT_PORTS[protocol], used: port });
    }
    ports.push(`${protocol}://${addresses[0]}:${port}`);
  }
  const address = advertisedAddress(bindAddress, serviceClusterIpRange);
  const client = createClient(directTransport(server.direct(INGRESS_CONTROLLER)));
  const controller = new IngressController({
    ...{ client, clock, random, log, address, movedPorts },
    use: (config) => proxy.use(config),
  });
  cleanup.add(() => controller.stop());
  controller.start().catch((error) => log.error('the Ingress controller does not follow the API', { error }));
  say(ports.join(', '));
}
