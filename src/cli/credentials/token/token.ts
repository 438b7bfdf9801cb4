/** `qd token`: bootstrap tokens that machines join the cluster with, kept as Secrets in kube-system. */

import { createHash, X509Certificate } from 'node:crypto';
import { isApiError } from '../../../api/errors.ts';
import type { DeepReadonly } from '../../../api/object-types.ts';
import { FlagError } from '../../../base/flag.ts';
import { withoutUndefined } from '../../../base/json/tree.ts';
import { type Random, systemRandom } from '../../../base/random.ts';
import { systemClock } from '../../../base/time/clock.ts';
import { timestamp } from '../../../base/time/timestamp.ts';
import { type Client, createClient } from '../../../client/client.ts';
import type { Connection } from '../../../client/kubeconfig/kubeconfig.ts';
import { httpsTransport } from '../../../client/transport/http/https-transport.ts';
import { ConfigMap } from '../../../kinds/groups/core/configuration/config-map.ts';
import { Secret } from '../../../kinds/groups/core/configuration/secret.ts';
import { connectionFor } from '../../clusters/choice.ts';
import type { ClusterFlags } from '../../flags/cluster.ts';
import { withReadyServer } from '../../flags/reach/ready-server.ts';
import { CliError } from '../../output/cli-error.ts';
import { print } from '../../output/print.ts';
import { table } from '../../output/table.ts';
import { type CreateFlags, type GivenCreateFlags, settleCreate } from './flags.ts';
import { letNodesJoin, letServersJoin } from './joining-rights.ts';

const NAMESPACE = 'kube-system';
const TYPE = 'bootstrap.kubernetes.io/token';
const PREFIX = 'bootstrap-token-';
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';

export async function createToken(given: string | undefined, givenFlags: GivenCreateFlags): Promise<void> {
  const flags = settled(givenFlags);
  await withClient(flags, async (client, connection) => {
    const token = given ?? newToken(systemRandom);
    if (!flags.server) await letNodesJoin(client, flags.groups);
    const secret = await client.of(Secret).create(secretOf(token, flags, systemClock.now()));
    if (flags.server) await letServersJoin(client, secret);
    print(token);
    if (flags.quiet) return;
    const server = (await publishedAddress(client)) ?? connection.server;
    print('\nA machine that joins needs:');
    for (const line of joiningDetails(token, { ...connection, server })) print(`  ${line}`);
    const command = flags.server ? joinServerCommand : joinCommand;
    print(`\nRun on it:\n  ${command(token, { ...connection, server })}`);
    const problem = reachProblem(server);
    if (problem !== undefined) print(`\n${problem}`);
  });
}

export async function listTokens(flags: ClusterFlags): Promise<void> {
  await withClient(flags, async (client) => {
    const { items } = await client
      .of(Secret)
      .in(NAMESPACE)
      .list({ fieldSelector: `type=${TYPE}` });
    print(...tokenTable(items, systemClock.now()));
  });
}

export async function deleteTokens(ids: readonly string[], flags: ClusterFlags): Promise<void> {
  await withClient(flags, async (client) => {
    for (const given of ids) {
      const id = given.split('.')[0] ?? '';
      try {
        await client.of(Secret).in(NAMESPACE).delete(`${PREFIX}${id}`);
      } catch (error) {
        if (isApiError(error, 'NotFound'))
          throw new CliError(`there is no token ${id}; qd token list shows the tokens`, { cause: error });
        throw error;
      }
      print(`token ${id} deleted`);
    }
  });
}

export function newToken(random: Random): string {
  const characters = (count: number) =>
    Array.from({ length: count }, () => ALPHABET[random.int(ALPHABET.length)]).join('');
  return `${characters(6)}.${characters(16)}`;
}

export function secretOf(token: string, flags: CreateFlags, now: number) {
  const [id = '', secret = ''] = token.split('.');
  const expiration = flags.ttl > 0 ? timestamp(now + flags.ttl) : undefined;
  const stringData = withoutUndefined({
    'token-id': id,
    'token-secret': secret,
    expiration,
    description: flags.description || undefined,
    'auth-extra-groups': flags.groups.length > 0 ? flags.groups.join(',') : undefined,
    ...Object.fromEntries(flags.usages.map((usage) => [`usage-bootstrap-${usage}`, 'true'])),
  });
  return { metadata: { name: `${PREFIX}${id}`, namespace: NAMESPACE }, type: TYPE, stringData };
}

/** The hash of the authority's key lets the machine verify the server before it sends the token. */
export function joiningDetails(token: string, { server, ca }: Connection): string[] {
  const details = [`server   ${server}`, `token    ${token}`];
  return ca === undefined ? details : [...details, `ca-hash  ${authorityHash(ca)}`];
}

/** The command that makes a machine a node of the cluster. */
export function joinCommand(token: string, { server, ca }: Connection): string {
  const pin = ca === undefined ? '--ca-file FILE' : `--ca-hash ${authorityHash(ca)}`;
  return `qd agent --server ${server} --token ${token} ${pin}`;
}

/** The command that makes a machine a server of the cluster. */
export function joinServerCommand(token: string, { server, ca = '' }: Connection): string {
  return `qd up --join ${server} --token ${token} --ca-hash ${authorityHash(ca)}`;
}

function settled(given: GivenCreateFlags): CreateFlags {
  try {
    return settleCreate(given);
  } catch (error) {
    throw error instanceof FlagError ? new CliError(error.message, { cause: error }) : error;
  }
}

/** Advice for an address that only this machine reaches; undefined when other machines may reach the server. */
export function reachProblem(server: string): string | undefined {
  const { hostname } = new URL(server);
  if (!/^(127\.[\d.]+|localhost|\[::1\])$/.test(hostname)) return undefined;
  return `Other machines do not reach ${hostname}: start the cluster with --bind-address ADDRESS, and create a token again.`;
}

/** Hash of the public key, which stays the same when only the certificate of the authority is renewed. */
export function authorityHash(pem: string): string {
  const key = new X509Certificate(pem).publicKey.export({ type: 'spki', format: 'der' });
  return `sha256:${createHash('sha256').update(key).digest('hex')}`;
}

/** The address that the cluster publishes: the kubeconfig of a client on its machine may have a loopback address. */
async function publishedAddress(client: Client): Promise<string | undefined> {
  try {
    const { data } = await client.of(ConfigMap).in('kube-public').get('cluster-info');
    return /^ *server: (\S+)$/m.exec(data?.kubeconfig ?? '')?.[1];
  } catch (error) {
    if (isApiError(error, 'NotFound', 'Forbidden')) return undefined;
    throw error;
  }
}

type ReadSecret = DeepReadonly<Secret>;

export function tokenTable(secrets: readonly ReadSecret[], now: number): string[] {
  const rows = secrets.map((secret) => {
    const text = (key: string) => Buffer.from(secret.data?.[key] ?? '', 'base64').toString('utf8');
    const usages = ['authentication', 'signing'].filter((usage) => text(`usage-bootstrap-${usage}`) === 'true');
    return [
      text('token-id') || (secret.metadata.name ?? ''),
      timeLeft(text('expiration'), now),
      usages.join(',') || '<none>',
      text('auth-extra-groups') || '<none>',
      text('description') || '<none>',
    ];
  });
  return table([['ID', 'EXPIRES IN', 'USAGES', 'GROUPS', 'DESCRIPTION'], ...rows]);
}

function timeLeft(expiration: string, now: number): string {
  if (expiration === '') return '<never>';
  const minutes = Math.ceil((Date.parse(expiration) - now) / 60_000);
  if (!(minutes > 0)) return '<expired>';
  return minutes < 60 ? `${minutes}m` : `${Math.floor(minutes / 60)}h${minutes % 60}m`;
}

async function withClient(
  flags: ClusterFlags,
  work: (client: Client, connection: Connection) => Promise<void>,
): Promise<void> {
  const connection = await withReadyServer(await connectionFor(flags));
  const transport = httpsTransport({ ...connection, userAgent: 'qd-token' });
  try {
    await work(createClient(transport), connection);
  } finally {
    transport.close();
  }
}
