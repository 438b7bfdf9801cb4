/** The host name of a pod, and its domain. */
import { dnsLabel, dnsSubdomain } from '../../../schema/names.ts';
import type { SeenPod } from '../../pod/container-run.ts';
import { ContainerConfigError } from '../inputs.ts';

/** Limit of the kernel. */
const MAX_HOSTNAME = 63;
const MAX_FQDN = 64;

export interface PodHostname {
  readonly hostname: string;
  /** `SUBDOMAIN.NAMESPACE.svc.DOMAIN`; empty without a subdomain. */
  readonly domain: string;
}

export function podHostname({ metadata, spec }: SeenPod, clusterDomain: string): PodHostname {
  const { hostnameOverride, hostname, subdomain } = spec;
  if (hostnameOverride !== undefined) {
    check(dnsSubdomain(hostnameOverride), `pod HostnameOverride "${hostnameOverride}" is not a valid DNS subdomain`);
    return { hostname: truncated(hostnameOverride, metadata.name ?? ''), domain: '' };
  }
  if (hostname) check(dnsLabel(hostname), `pod Hostname "${hostname}" is not a valid DNS label`);
  if (subdomain) check(dnsLabel(subdomain), `pod Subdomain "${subdomain}" is not a valid DNS label`);
  return {
    hostname: truncated(hostname || (metadata.name ?? ''), metadata.name ?? ''),
    domain: subdomain ? `${subdomain}.${metadata.namespace}.svc.${clusterDomain}` : '',
  };
}

/** Returns the name of the sandbox: the host name, or with `setHostnameAsFQDN` the full name. Empty: the node's own name. */
export function kernelHostname(pod: SeenPod, clusterDomain: string): string {
  if (pod.spec.hostNetwork) return '';
  const { hostname, domain } = podHostname(pod, clusterDomain);
  if (!pod.spec.setHostnameAsFQDN || !domain) return hostname;
  const fqdn = `${hostname}.${domain}`;
  if (fqdn.length <= MAX_FQDN) return fqdn;
  throw new ContainerConfigError(
    `Failed to construct FQDN from pod hostname and cluster domain, FQDN ${fqdn} is too long (${MAX_FQDN} characters is the max, ${fqdn.length} characters requested)`,
  );
}

/** A host name does not end with a dash or a dot. */
function truncated(hostname: string, podName: string): string {
  if (hostname.length <= MAX_HOSTNAME) return hostname;
  const short = hostname.slice(0, MAX_HOSTNAME).replace(/[-.]+$/, '');
  if (short) return short;
  throw new ContainerConfigError(`hostname for pod "${podName}" was invalid: "${hostname}"`);
}

function check(complaints: readonly string[], message: string): void {
  if (complaints.length) throw new ContainerConfigError(`${message}: ${complaints.join(';')}`);
}
