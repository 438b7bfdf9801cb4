/** `qdfed init`: deploys the control plane of a federation. Everything that can be rejected is, before anything is created. */
import { join } from 'node:path';
import { openCluster } from '../../assembly/federation/open-cluster.ts';
import { systemRandom } from '../../base/random.ts';
import { systemClock } from '../../base/time/clock.ts';
import { type Client, createClient } from '../../client/client.ts';
import type { Connection } from '../../client/kubeconfig/kubeconfig.ts';
import { writeContext } from '../../client/kubeconfig/kubeconfig-file.ts';
import { type ControlPlane, FEDERATION_NAME } from '../../federation/tool/control-plane.ts';
import { Namespace } from '../../kinds/groups/core/namespace.ts';
import { Node } from '../../kinds/groups/core/node/node.ts';
import { Cluster } from '../../kinds/groups/federation/cluster.ts';
import { dnsLabel } from '../../schema/names.ts';
import { openDnsProvider, readDnsConfig } from '../federation/dns-provider.ts';
import { NODE_PATH, PROGRAM_PATH } from '../image/own-files.ts';
import { CliError } from '../output/cli-error.ts';
import { version } from '../process/version.ts';
import { deploy, describeAll } from './deploy.ts';
import type { InitFlags } from './flags.ts';
import { releaseOf, withContexts } from './members/contexts.ts';
import { find } from './steps/ensure.ts';
import { printObjects } from './steps/print.ts';
import { repeatableSteps } from './steps/repeatable-steps.ts';

const LIMIT_MS = 180_000;
const BASIC_AUTH_USER = 'admin';

export async function init(name: string, flags: InitFlags): Promise<void> {
  const checked = checkFlags(name, flags);
  const config = flags.dnsProviderConfig === undefined ? undefined : await readDnsConfig(flags.dnsProviderConfig);
  await openDnsProvider(checked.provider, checked.zone.toLowerCase(), config);
  await withContexts(flags.kubeconfig, async (contexts) => {
    const host = await contexts.open(checked.hostContext, '--host-cluster-context');
    if (contexts.config.contexts.has(name)) {
      throw new CliError(
        `the client configuration has a context "${name}" already; choose another name, or delete it with ` +
          ['context', 'cluster', 'user'].map((each) => `kubectl config delete-${each} ${name}`).join('; '),
      );
    }
    const { gitVersion } = await releaseOf(host);
    await checkNamespace(host.client, name, flags.federationSystemNamespace);
    const plane = planeOf(name, flags, { ...checked, config, ...(await programOn(host.client, flags.image)) });
    if (flags.dryRun) return printObjects(await describeAll(plane, systemClock, systemRandom));
    const steps = repeatableSteps();
    steps.line(`Federation "${name}" on the host cluster "${host.context}" (${gitVersion})`);
    const { server, credentials } = await deploy({
      plane,
      host: host.client,
      steps,
      clock: systemClock,
      random: systemRandom,
      limitMs: LIMIT_MS,
      answers,
    });
    await steps.run('kubeconfig', async (say) => {
      const { ca, admin, token, password } = credentials;
      await writeContext(
        contexts.file,
        {
          name,
          server,
          ca,
          cert: admin.cert,
          key: admin.key,
          token: plane.hasTokenAuth ? token : undefined,
          basicAuth: plane.hasBasicAuth ? { username: BASIC_AUTH_USER, password } : undefined,
        },
        systemClock,
      );
      say(`context ${name} in ${contexts.file}; the current context is unchanged`);
    });
    steps.line(
      `\nThe federation API server is at ${server}.\n` +
        `Services of type LoadBalancer are published as SERVICE.NAMESPACE.${name}.svc.${checked.zone}\n\nNext:\n` +
        `  kubectl --context ${name} create namespace default\n` +
        `  qdfed join CLUSTER --host-cluster-context ${host.context}`,
    );
  });
}

interface CheckedFlags {
  readonly hostContext: string;
  readonly provider: string;
  readonly zone: string;
}

function checkFlags(name: string, flags: InitFlags): CheckedFlags {
  const { hostClusterContext: hostContext, dnsProvider: provider, dnsZoneName: zone } = flags;
  const missing = [
    ...(hostContext ? [] : ['--host-cluster-context']),
    ...(provider ? [] : ['--dns-provider']),
    ...(zone ? [] : ['--dns-zone-name']),
  ];
  if (!hostContext || !provider || !zone) throw new CliError(`required: ${missing.join(', ')}`);
  const [problem] = dnsLabel(name);
  if (problem !== undefined) throw new CliError(`the federation name "${name}" is invalid: ${problem}`);
  if (!zone.endsWith('.') || zone === '.') {
    throw new CliError(`--dns-zone-name ${zone} must end with a dot, such as example.com.`);
  }
  if (flags.apiServerAdvertiseAddress !== undefined && flags.apiServerServiceType !== 'NodePort') {
    throw new CliError('--api-server-advertise-address needs --api-server-service-type NodePort');
  }
  return { hostContext, provider, zone };
}

/** A namespace of the same federation is that of an attempt that was interrupted: it is continued. */
async function checkNamespace(host: Client, name: string, namespace: string): Promise<void> {
  const other = (await find(host, Namespace, namespace))?.metadata.annotations?.[FEDERATION_NAME];
  if (other === undefined || other === name) return;
  throw new CliError(
    `the namespace ${namespace} of the host cluster belongs to the federation "${other}"; ` +
      'choose another with --federation-system-namespace',
  );
}

interface Program {
  readonly image: string;
  readonly program: readonly string[];
}

/** The image of Quarterdeck itself; on nodes that run processes, the program that runs now. */
async function programOn(host: Client, image: string | undefined): Promise<Program> {
  const { items } = await host.of(Node).list({ limit: 1 });
  const runtime = String(items[0]?.status?.nodeInfo?.containerRuntimeVersion ?? '');
  if (image === undefined && runtime.startsWith('process://')) {
    return { image: 'host', program: [process.execPath, join(__dirname, 'qd.js')] };
  }
  return { image: image ?? `quarterdeck:${version}`, program: [NODE_PATH, join(PROGRAM_PATH, 'dist/qd.js')] };
}

function planeOf(
  name: string,
  flags: InitFlags,
  { provider, zone, config, image, program }: CheckedFlags & Program & { readonly config: string | undefined },
): ControlPlane {
  return {
    name,
    namespace: flags.federationSystemNamespace,
    dns: { provider, zone, config },
    image,
    program,
    etcdImage: flags.etcdImage,
    serviceType: flags.apiServerServiceType as ControlPlane['serviceType'],
    advertiseAddress: flags.apiServerAdvertiseAddress,
    storage: flags.etcdPersistentStorage
      ? { capacity: flags.etcdPvCapacity, className: flags.etcdPvStorageClass }
      : undefined,
    hasBasicAuth: flags.apiserverEnableBasicAuth,
    hasTokenAuth: flags.apiserverEnableTokenAuth,
    serverOverrides: flags.apiserverArgOverrides ?? new Map(),
    managerOverrides: flags.controllermanagerArgOverrides ?? new Map(),
  };
}

async function answers(connection: Connection): Promise<string | undefined> {
  const { transport, close } = openCluster(connection, { timeout: 5_000 });
  try {
    await createClient(transport).of(Cluster).list({ limit: 1 });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  } finally {
    close();
  }
}
