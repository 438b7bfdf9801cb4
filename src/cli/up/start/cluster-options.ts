/** The cluster that the flags of a start ask for. */
import { join } from 'node:path';
import type { ClusterOptions } from '../../../assembly/cluster/options.ts';
import { hasRealPods } from '../../../assembly/cluster-nodes/node-plan.ts';
import type { ApiAddress } from '../../../assembly/context.ts';
import { keyFileIn } from '../../../assembly/store/encryption.ts';
import { allKinds } from '../../../kinds/all.ts';
import { storeDriver } from '../../../store/drivers.ts';
import { hiddenPaths } from '../../agent/hidden-paths.ts';
import { nodeConfig } from '../../agent/node-config.ts';
import { apiVersion, ownRelease, release } from '../../process/version.ts';
import { limits } from '../api/load.ts';
import { isChosen } from '../components/choice.ts';
import { isPrivateCluster } from '../components/private-cluster.ts';
import type { StartContext } from '../context.ts';
import type { Settings } from '../flags.ts';
import { memberPlan, stopWithoutStore } from '../ha/member-plan.ts';
import { memberProblem } from '../ha/member-problem.ts';
import { frontProxyOf, proxiedUsers, tlsOf } from '../identity/proxies.ts';
import { startPart } from '../messages/progress.ts';
import { auditOptions } from '../observability/audit.ts';
import { agreeOn, readAgreed } from '../settings/agreed-settings.ts';
import { backupPlan } from '../store/backups/plan.ts';
import { restoreInto } from '../testing/restore.ts';
import { packageReceiver } from '../upgrade/receiving/package-receiver.ts';

/** `open` opens the listeners of the API; undefined: in this thread. */
export function clusterOptions(context: StartContext, open: ClusterOptions['http']['open']): ClusterOptions {
  const { settings, inputs, directory } = context;
  const { serviceNodePortRange, volumesDir, allowedDialRanges = [] } = settings;
  const ownVolumes = join(directory, 'volumes');
  const { durable, exclusive } = storeDriver(settings.store);
  const { restore } = inputs;
  return {
    ...context,
    allowedDialRanges,
    faults: settings.faults,
    startPart: startPart(context),
    address: apiAddress(context),
    store: storeOptions(context),
    member: memberPlan(settings),
    storeActions: (store, server) => context.moves.actions({ context, store, server }),
    release: ownRelease,
    backups: backupPlan(settings, directory, inputs.backups),
    upgrades: packageReceiver({
      directory,
      isOn: settings.remoteUpgrades,
      log: context.log,
      obstacle: () => memberProblem(context),
    }),
    rejected: stopWithoutStore,
    agree: (store) => agreeOn(store, settings, ownRelease),
    agreed: (store) => readAgreed(store, ownRelease),
    restore: restore && ((store) => restoreInto(store, restore)),
    api: {
      kinds: allKinds,
      admission: inputs.admission,
      flowControl: inputs.flowControl,
      ...inputs.authorization,
      serviceNodePortRange: `${serviceNodePortRange.first}-${serviceNodePortRange.last}`,
      release: durable && exclusive ? release : undefined,
    },
    tokens: tokenOptions(settings),
    users: { ...inputs.authentication, proxied: proxiedUsers(settings), anonymous: settings.anonymousAuth },
    trust: { tlsOf: (pki) => tlsOf(pki, settings), frontProxyOf: (pki) => frontProxyOf(pki, settings) },
    audit: auditOptions(settings, inputs.audit, directory),
    http: { limits: limits(settings), version: apiVersion, open },
    insecurePort: settings.insecurePort,
    components: {
      runs: (name) => isChosen(name, settings),
      volumesDirectory: volumesDir ?? ownVolumes,
      maxCertificateMs: settings.clusterSigningDuration,
    },
    nodes: inputs.nodes,
    node: {
      config: nodeConfig(settings, isPrivateCluster(settings)),
      endpoint: settings.containerRuntimeEndpoint,
      volumesDirectory: volumesDir === undefined ? ownVolumes : undefined,
      hidden: () => hiddenPaths(directory, process.env.KUBECONFIG),
      version: apiVersion.gitVersion,
    },
    ingress: settings.ingress === false ? undefined : ingressOptions(settings),
  };
}

/** Where the flags of a start serve the API. */
export function apiAddress({ settings, inputs }: Pick<StartContext, 'settings' | 'inputs'>): ApiAddress {
  const { bindAddress, port, serviceClusterIpRange, clusterDomain, tlsSan = [] } = settings;
  return { bindAddress, port, serviceClusterIpRange, clusterDomain, tlsSan, forPods: hasRealPods(inputs.nodes) };
}

/** Secrets are encrypted in every store that outlives the process. */
function storeOptions({ settings, directory }: StartContext): ClusterOptions['store'] {
  const driver = storeDriver(settings.store);
  const keyFile = driver.durable ? (settings.encryptionKeyFile ?? keyFileIn(directory)) : undefined;
  const { watchHistoryDuration: historyMilliseconds, watchHistoryBytes: historyBytes } = settings;
  const { historyDuration: milliseconds, historyBytes: bytes } = settings;
  const archive = milliseconds > 0 && bytes > 0 ? { milliseconds, bytes } : undefined;
  return { driver, settings, keyFile, historyMilliseconds, historyBytes, archive };
}

function tokenOptions(settings: Settings): ClusterOptions['tokens'] {
  return {
    issuers: settings.serviceAccountIssuer,
    audiences: settings.apiAudiences,
    maxLifetimeMs: settings.serviceAccountMaxTokenExpiration,
    extendsExpiration: settings.serviceAccountExtendTokenExpiration,
  };
}

function ingressOptions(settings: Settings): ClusterOptions['ingress'] {
  return {
    ports: { http: settings.ingressHttpPort, https: settings.ingressHttpsPort },
    sharesHosts: settings.ingressShareHosts === true,
    allowsExternalNames: settings.ingressAllowExternalNames === true,
  };
}
