/** The flags of the federation tool. */
import { FlagError, flag, type ValuesOf } from '../../base/flag.ts';
import { DNS_PROVIDERS } from '../../federation/dns/provider.ts';
import { parseOverrides } from '../../federation/tool/argument-overrides.ts';
import * as value from '../flags/values.ts';

const common = [
  flag('--kubeconfig <file>', { help: 'kubeconfig file to use', defaultText: '$KUBECONFIG, or ~/.kube/config' }),
  flag('--federation-system-namespace <name>', {
    help: 'namespace of the control plane on the host cluster',
    default: 'federation-system',
  }),
] as const;

const dryRun = flag('--dry-run', { help: 'print the objects, and create nothing' });

export const initFlags = [
  ...common,
  dryRun,
  flag('--host-cluster-context <name>', { help: 'context of the host cluster; required' }),
  flag('--dns-provider <name>', {
    help: `DNS provider that federated services are published to; required: ${DNS_PROVIDERS.join(', ')}`,
  }),
  flag('--dns-zone-name <domain>', {
    help: 'existing domain that the DNS provider can program, with a trailing dot; required',
  }),
  flag('--dns-provider-config <file>', {
    help: 'configuration of the DNS provider: an INI file with the section [Global]',
    parse: value.file,
  }),
  flag('--apiserver-enable-basic-auth [bool]', {
    help: 'also enable basic authentication on the federation API server',
    parse: value.boolean,
    default: false,
  }),
  flag('--apiserver-enable-token-auth [bool]', {
    help: 'also enable token authentication on the federation API server',
    parse: value.boolean,
    default: false,
  }),
  flag('--apiserver-arg-overrides <list>', {
    help: 'arguments of the federation API server to override: --arg1=value1,--arg2=value2',
    parse: overrides,
  }),
  flag('--controllermanager-arg-overrides <list>', {
    help: 'arguments of the federation controller manager to override: --arg1=value1,--arg2=value2',
    parse: overrides,
  }),
  flag('--api-server-service-type <type>', {
    help: 'how the federation API server is exposed on the host cluster',
    choices: ['LoadBalancer', 'NodePort'],
    default: 'LoadBalancer',
  }),
  flag('--api-server-advertise-address <ip>', {
    help: 'address to advertise for the federation API server; only with NodePort',
    parse: value.address,
    defaultText: 'that of a node of the host cluster',
  }),
  flag('--etcd-persistent-storage [bool]', {
    help: 'keep the state of the control plane on a persistent volume',
    parse: value.boolean,
    default: true,
  }),
  flag('--etcd-pv-capacity <size>', { help: 'size of that volume', default: '10Gi' }),
  flag('--etcd-pv-storage-class <name>', {
    help: 'storage class of that volume',
    defaultText: 'the default one of the host cluster',
  }),
  flag('--image <name>', {
    help: 'image of the federation API server and controller manager',
    defaultText: 'that of qd image build; on nodes that run processes, the program itself',
  }),
  flag('--etcd-image <name>', {
    help: 'run etcd from this image beside the federation API server, which otherwise stores objects itself',
  }),
] as const;

export type InitFlags = ValuesOf<typeof initFlags>;

export const federationFlags = [
  ...common,
  flag('--host-cluster-context <name>', {
    help: 'context of the host cluster',
    defaultText: 'the current context',
  }),
  flag('--context <name>', {
    help: 'context of the federation',
    defaultText: 'the one that has the name of the federation on the host cluster',
  }),
] as const;

export type FederationFlags = ValuesOf<typeof federationFlags>;

export const joinFlags = [
  ...federationFlags,
  dryRun,
  flag('--cluster-context <name>', { help: 'context of the cluster', defaultText: 'the name of the cluster' }),
  flag('--secret-name <name>', {
    help: 'secret on the host cluster for the credentials of the cluster',
    defaultText: 'the name of the cluster',
  }),
] as const;

export type JoinFlags = ValuesOf<typeof joinFlags>;

export const unjoinFlags = [
  ...federationFlags,
  dryRun,
  flag('--cluster-context <name>', {
    help: 'context of the cluster',
    defaultText: 'the one that it has joined with, or the name of the cluster',
  }),
] as const;

export type UnjoinFlags = ValuesOf<typeof unjoinFlags>;

export const statusFlags = [
  ...federationFlags,
  flag('-n, --namespace <name>', { help: 'namespace of the object', default: 'default' }),
] as const;

export type StatusFlags = ValuesOf<typeof statusFlags>;

export const federateFlags = [
  ...federationFlags,
  dryRun,
  flag('--api-version <version>', { help: 'version of a kind that Quarterdeck does not have itself' }),
  flag('--kind <kind>', { help: 'name of a kind that Quarterdeck does not have itself' }),
  flag('--scope <scope>', {
    help: 'whether objects of such a kind are in namespaces',
    choices: ['Namespaced', 'Cluster'],
    default: 'Namespaced',
  }),
  flag('--replicas-path <path>', {
    help: 'field with a number that is divided between the clusters, such as spec.replicas',
    defaultText: 'the one that the scale subresource of the kind names',
  }),
] as const;

export type FederateFlags = ValuesOf<typeof federateFlags>;

function overrides(text: string): ReadonlyMap<string, string> {
  try {
    return parseOverrides(text);
  } catch (error) {
    throw new FlagError(`${(error as Error).message}.`);
  }
}
