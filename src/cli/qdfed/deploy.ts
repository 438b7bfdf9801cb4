/** Deploys a control plane on its host cluster, step by step. Every step can be repeated. */
import { isIP } from 'node:net';
import type { Random } from '../../base/random.ts';
import type { Clock } from '../../base/time/clock.ts';
import type { Client } from '../../client/client.ts';
import type { Connection } from '../../client/kubeconfig/kubeconfig.ts';
import {
  type ControlPlane,
  claimName,
  managerName,
  type ObjectToCreate,
  serverName,
} from '../../federation/tool/control-plane.ts';
import { type Credentials, createCredentials } from '../../federation/tool/credentials.ts';
import {
  claimObjects,
  managerObjects,
  namespaceObject,
  secretObjects,
  serverDeployment,
  serviceNames,
  serviceObject,
} from '../../federation/tool/host-objects.ts';
import { Deployment } from '../../kinds/groups/apps/deployment.ts';
import { Node } from '../../kinds/groups/core/node/node.ts';
import { PersistentVolume } from '../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PersistentVolumeClaim } from '../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { Pod } from '../../kinds/groups/core/pod/pod.ts';
import { Service } from '../../kinds/groups/core/service/service.ts';
import { StorageClass } from '../../kinds/groups/storage/storage-class.ts';
import { CliError } from '../output/cli-error.ts';
import type { Steps } from '../output/steps.ts';
import { ensure, find } from './steps/ensure.ts';
import { Missing, until } from './steps/wait.ts';

export interface DeployOptions {
  readonly plane: ControlPlane;
  /** Client of the host cluster. */
  readonly host: Client;
  readonly steps: Steps;
  readonly clock: Clock;
  readonly random: Random;
  /** Asks the federation API server; resolves with why it does not answer. */
  readonly answers: (connection: Connection) => Promise<string | undefined>;
  /** How long each part may take. */
  readonly limitMs: number;
}

export interface Deployed {
  /** URL of the federation API server, for clients outside of the host cluster. */
  readonly server: string;
  readonly credentials: Credentials;
}

export async function deploy(options: DeployOptions): Promise<Deployed> {
  const { plane, host, steps, clock, random, limitMs } = options;
  const create = (objects: readonly ObjectToCreate[]) => createAll(host, objects);
  await steps.run('namespace', async (say) => say(await create([namespaceObject(plane)])));
  const { server, names } = await steps.run('service', async (say) => {
    await create([serviceObject(plane)]);
    const found = await until({ clock, limitMs, say }, () => addressOf(host, plane));
    say(`${plane.serviceType} at ${found.server}`);
    return found;
  });
  const credentials = await steps.run('credentials', async (say) => {
    const made = await createCredentials({
      name: plane.name,
      names: [...serviceNames(plane), ...names],
      now: clock.now(),
      random,
    });
    say(await create(secretObjects(plane, made)));
    return made;
  });
  await steps.run('storage', async (say) =>
    say(plane.storage ? await create(claimObjects(plane)) : 'none: state does not survive restarts'),
  );
  await steps.run('API server', async (say) => say(await create([serverDeployment(plane, credentials)])));
  await steps.run('controllers', async (say) => say(await create(managerObjects(plane, credentials))));
  await steps.run('waiting', async (say) => {
    const wait = { clock, limitMs, say };
    await until(wait, () => availability(host, plane, serverName(plane)));
    const { ca, admin } = credentials;
    await until(wait, async () => {
      const why = await options.answers({ server, ca, cert: admin.cert, key: admin.key });
      return why === undefined ? true : new Missing(`the federation API server does not answer at ${server}: ${why}`);
    });
    await until(wait, () => availability(host, plane, managerName(plane)));
    if (plane.storage) await retainVolume(host, plane);
    say('the API server and the controller manager are ready');
  });
  return { server, credentials };
}

/** All objects of a control plane, for a dry run. */
export async function describeAll(
  plane: ControlPlane,
  clock: Clock,
  random: Random,
): Promise<readonly ObjectToCreate[]> {
  const names = [...serviceNames(plane), ...(plane.advertiseAddress ? [plane.advertiseAddress] : [])];
  const credentials = await createCredentials({ name: plane.name, names, now: clock.now(), random });
  return [
    ...[namespaceObject(plane), serviceObject(plane), ...secretObjects(plane, credentials), ...claimObjects(plane)],
    ...[serverDeployment(plane, credentials), ...managerObjects(plane, credentials)],
  ];
}

/** Returns what was done, for people to read. */
async function createAll(host: Client, objects: readonly ObjectToCreate[]): Promise<string> {
  const done: string[] = [];
  for (const each of objects) {
    const isNew = await ensure(host, each);
    done.push(`${each.object.metadata.name}${isNew ? '' : ' (exists)'}`);
  }
  return done.join(', ');
}

interface Address {
  readonly server: string;
  /** Names and addresses for the certificate. */
  readonly names: readonly string[];
}

/** Where clients outside of the host cluster reach the service. */
async function addressOf(host: Client, plane: ControlPlane): Promise<Address | Missing> {
  const { spec, status } = await host.of(Service).in(plane.namespace).get(serverName(plane));
  const own = spec.clusterIP && isIP(spec.clusterIP) ? [spec.clusterIP] : [];
  if (spec.type === 'NodePort') {
    const port = spec.ports?.[0]?.nodePort;
    const address = plane.advertiseAddress ?? (await nodeAddress(host));
    if (port === undefined) return new Missing(`the service ${serverName(plane)} has no node port`);
    return { server: `https://${bracketed(address)}:${port}`, names: [...own, address] };
  }
  const ingress = status?.loadBalancer?.ingress ?? [];
  const names = ingress.flatMap(({ ip, hostname }) => [ip, hostname].filter((each) => each !== undefined));
  const [first] = names;
  if (first === undefined) {
    const said = status?.conditions?.find(({ message }) => message)?.message;
    return new Missing(
      `the load balancer of the service ${serverName(plane)} has no address${said ? ` (${said})` : ''}; ` +
        'use --api-server-service-type NodePort on a host cluster without load balancers, or whose port 443 is taken (by the ' +
        'built-in Ingress controller, unless the host was started with --ingress=false or another --ingress-https-port)',
    );
  }
  return { server: `https://${bracketed(first)}`, names: [...own, ...names] };
}

/** Resolves with an address of the first node; external ones are preferred. */
async function nodeAddress(host: Client): Promise<string> {
  const addresses = (await host.of(Node).list()).items.flatMap(({ status }) => status?.addresses ?? []);
  const found = ['ExternalIP', 'InternalIP'].map((type) => addresses.find((each) => each.type === type)).find(Boolean);
  if (!found)
    throw new CliError('no node of the host cluster has an address; name one with --api-server-advertise-address');
  return found.address;
}

const bracketed = (address: string) => (isIP(address) === 6 ? `[${address}]` : address);

/** Resolves with true when a deployment has a ready pod, otherwise with what it is waiting for. */
async function availability(host: Client, plane: ControlPlane, name: string): Promise<true | Missing> {
  const { metadata, spec, status } = await host.of(Deployment).in(plane.namespace).get(name);
  const isCurrent =
    (status?.observedGeneration ?? 0) >= (metadata.generation ?? 0) && (status?.updatedReplicas ?? 0) > 0;
  if (isCurrent && (status?.availableReplicas ?? 0) > 0) return true;
  const unbound = plane.storage && name === serverName(plane) ? await unboundClaim(host, plane) : undefined;
  if (unbound !== undefined) return new Missing(unbound);
  const labelSelector = Object.entries(spec.selector.matchLabels ?? {})
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
  const { items } = await host.of(Pod).in(plane.namespace).list({ labelSelector });
  return new Missing(
    `the deployment ${name} is not available: ${items.map(whyNotReady).join('; ') || 'it has no pod'}`,
  );
}

function whyNotReady({ metadata, status }: Pick<Pod, 'metadata' | 'status'> | any): string {
  const [waiting] = (status?.containerStatuses ?? []).flatMap(
    (each: any) => each.state?.waiting ?? each.lastState?.terminated ?? [],
  );
  const condition = status?.conditions?.find((each: any) => each.status === 'False' && each.message);
  const why = [waiting?.reason, waiting?.message ?? condition?.message].filter(Boolean).join(': ');
  return `pod ${metadata.name} is ${status?.phase ?? 'new'}${why ? `, ${why}` : ''}`;
}

/** Says what is missing when the claim cannot be bound; undefined when it is bound, or waits for its pod. */
async function unboundClaim(host: Client, plane: ControlPlane): Promise<string | undefined> {
  const name = claimName(plane);
  const { spec, status } = await host.of(PersistentVolumeClaim).in(plane.namespace).get(name);
  if (status?.phase === 'Bound') return undefined;
  const className = spec.storageClassName;
  if (className && (await find(host, StorageClass, className))) return undefined;
  const { capacity } = plane.storage!;
  const reason = className ? `there is no storage class ${className}` : 'the host cluster has no default storage class';
  return (
    `the claim ${name} is not bound: ${reason}. Create a persistent volume of at least ${capacity} with the access mode ` +
    `ReadWriteOnce${className ? ` and the storage class ${className}` : ''}, name a storage class with ` +
    '--etcd-pv-storage-class, or use --etcd-persistent-storage=false'
  );
}

/** Deleting the namespace must not delete the state of the federation: the volume outlives its claim. */
async function retainVolume(host: Client, plane: ControlPlane): Promise<void> {
  const { spec } = await host.of(PersistentVolumeClaim).in(plane.namespace).get(claimName(plane));
  if (!spec.volumeName) return;
  const changes = { spec: { persistentVolumeReclaimPolicy: 'Retain' } };
  await host.of(PersistentVolume).patch(spec.volumeName, { type: 'merge', changes });
}
