/** How the flags of a start configure the network of its pods. */
import type { IngressOptions } from '../../../assembly/cluster-network/ingress.ts';
import type { NetworkOptions } from '../../../assembly/cluster-network/network.ts';
import type { StartContext } from '../context.ts';
import type { Settings } from '../flags.ts';

export function networkOptions(context: StartContext): NetworkOptions {
  const { settings, inputs } = context;
  const { serviceClusterIpRange, clusterDomain, allowedDialRanges = [] } = settings;
  return { ...context, serviceClusterIpRange, clusterDomain, allowedDialRanges, clusterCidr: inputs.nodes.clusterCidr };
}

export function ingressOptions(
  settings: Settings,
): Pick<IngressOptions, 'ports' | 'sharesHosts' | 'allowsExternalNames'> {
  return {
    ports: { http: settings.ingressHttpPort, https: settings.ingressHttpsPort },
    sharesHosts: settings.ingressShareHosts === true,
    allowsExternalNames: settings.ingressAllowExternalNames === true,
  };
}
