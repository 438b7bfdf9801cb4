/** `qdfed join`: adds a cluster to a federation. */
import { isIP } from 'node:net';
import type { AnyObject, DeepReadonly } from '../../api/object-types.ts';
import { systemClock } from '../../base/time/clock.ts';
import { FEDERATIONS, managerName } from '../../federation/tool/control-plane.ts';
import { DNS_CONFIG, managesDns, withFederation } from '../../federation/tool/dns-config.ts';
import {
  accountObjects,
  clusterObject,
  credentialsSecret,
  type Membership,
  tokenSecretName,
} from '../../federation/tool/member-objects.ts';
import { Deployment } from '../../kinds/groups/apps/deployment.ts';
import { ConfigMap } from '../../kinds/groups/core/configuration/config-map.ts';
import { Secret } from '../../kinds/groups/core/configuration/secret.ts';
import { Endpoints } from '../../kinds/groups/core/service/endpoints.ts';
import { Cluster } from '../../kinds/groups/federation/cluster.ts';
import { dns1035Label, dnsSubdomain } from '../../schema/names.ts';
import { CliError } from '../output/cli-error.ts';
import { apiVersion } from '../process/version.ts';
import { federatedTypes } from './federate.ts';
import type { JoinFlags } from './flags.ts';
import { type ClusterAccess, releaseOf, withContexts } from './members/contexts.ts';
import { openFederation } from './members/federation.ts';
import { ensure, find } from './steps/ensure.ts';
import { printObjects } from './steps/print.ts';
import { repeatableSteps } from './steps/repeatable-steps.ts';
import { Missing, until } from './steps/wait.ts';

const TOKEN_LIMIT_MS = 30_000;

export async function join(name: string, flags: JoinFlags): Promise<void> {
  const secret = flags.secretName ?? name;
  checkNames(name, secret);
  await withContexts(flags.kubeconfig, async (contexts) => {
    const member = await contexts.open(flags.clusterContext ?? name, clusterFlag(flags.clusterContext));
    const { host, federation, federationName } = await openFederation(contexts, flags);
    const release = await releaseOf(member);
    if (await find(federation.client, Cluster, name)) {
      throw new CliError(`the cluster ${name} is a member of the federation ${federationName} already`);
    }
    const namespace = flags.federationSystemNamespace;
    const membership: Membership = { cluster: name, federation: federationName, namespace, secret };
    const server = await reachableServer(member);
    const account = accountObjects(membership, await federatedTypes(federation));
    const cluster = clusterObject(membership, { server, context: member.context });
    if (flags.dryRun) {
      const access = { server, ca: member.connection.ca, token: '(made at run time)' };
      const objects = [...account, credentialsSecret(membership, access)];
      return printObjects([...objects, cluster]);
    }
    const steps = repeatableSteps();
    steps.line(`Cluster "${name}" (${release.gitVersion}) joins the federation "${federationName}"`);
    const token = await steps.run('account', async (say) => {
      for (const object of account) await ensure(member.client, object);
      say(`service account in ${namespace} of ${member.context}`);
      return tokenOf(member, membership);
    });
    await steps.run('credentials', async (say) => {
      await ensure(host.client, credentialsSecret(membership, { server, ca: member.connection.ca, token }));
      say(`secret ${secret} in ${namespace} of ${host.context}`);
    });
    await steps.run('DNS', async (say) => {
      const entry = await federationEntry(host, membership);
      if (!managesDns(release, apiVersion)) say(`update the DNS of the cluster yourself: federations ${entry}`);
      else say(await configureDns(member, entry));
    });
    // Last: until the cluster is a member, the command can be run again.
    await steps.run('cluster', async (say) => {
      await ensure(federation.client, cluster);
      say(`${name} at ${server}`);
    });
  });
}

function checkNames(name: string, secret: string): void {
  const [problem] = dns1035Label(name);
  if (problem !== undefined) throw new CliError(`the cluster name "${name}" is invalid: ${problem}`);
  const [wrong] = dnsSubdomain(secret);
  if (wrong !== undefined)
    throw new CliError(`the secret name "${secret}" is invalid: ${wrong}; choose one with --secret-name`);
}

const clusterFlag = (given: string | undefined) =>
  given === undefined ? 'the cluster needs a context of its name, or --cluster-context' : '--cluster-context';

/** Pods of the host do not reach what listens on loopback: then the address that the cluster's own pods use counts. */
async function reachableServer({ client, connection }: ClusterAccess): Promise<string> {
  const { hostname } = new URL(connection.server);
  if (!/^(?:localhost|127\.|\[::1\])/.test(hostname)) return connection.server;
  const endpoints = await find(client, Endpoints, 'kubernetes', 'default');
  return serverIn(endpoints) ?? connection.server;
}

/** The address in the endpoints of the service `kubernetes`, as the cluster sent them; undefined when there is none. */
export function serverIn(endpoints: DeepReadonly<AnyObject> | undefined): string | undefined {
  const subset = endpoints?.subsets?.[0];
  const [ip, port] = [subset?.addresses?.[0]?.ip, subset?.ports?.[0]?.port];
  const family = typeof ip === 'string' ? isIP(ip) : 0;
  if (family === 0 || !Number.isInteger(port)) return undefined;
  return `https://${family === 6 ? `[${ip}]` : ip}:${port}`;
}

/** A controller of the cluster puts it into the secret. */
function tokenOf({ client, context }: ClusterAccess, membership: Membership): Promise<string> {
  const name = tokenSecretName(membership);
  return until({ clock: systemClock, limitMs: TOKEN_LIMIT_MS }, async () => {
    const { data } = await client.of(Secret).in(membership.namespace).get(name);
    return typeof data?.token !== 'string'
      ? new Missing(
          `the cluster of context "${context}" has put no token into the secret ${membership.namespace}/${name}`,
        )
      : Buffer.from(data.token, 'base64').toString('utf8');
  });
}

/** `name=domain`, as the controller manager has it. */
async function federationEntry(host: ClusterAccess, { federation, namespace }: Membership): Promise<string> {
  const manager = await host.client
    .of(Deployment)
    .in(namespace)
    .get(managerName({ name: federation }));
  const entry = manager.metadata.annotations?.[FEDERATIONS];
  if (entry === undefined)
    throw new CliError(`the deployment ${manager.metadata.name} has no annotation "${FEDERATIONS}"`);
  return entry;
}

async function configureDns({ client }: ClusterAccess, entry: string): Promise<string> {
  const { namespace, name, key } = DNS_CONFIG;
  const existing = await find(client, ConfigMap, name, namespace);
  const known: unknown = existing?.data?.[key];
  const value = withFederation(typeof known === 'string' ? known : undefined, entry);
  const resource = client.of(ConfigMap).in(namespace);
  if (existing) await resource.patch(name, { type: 'merge', changes: { data: { [key]: value } } });
  else await resource.create({ metadata: { name, namespace }, data: { [key]: value } });
  return `${entry} in ${namespace}/${name}`;
}
