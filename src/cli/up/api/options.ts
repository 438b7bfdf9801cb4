/** How the flags of a start configure its API server. */
import { hostname } from 'node:os';
import { advertisedAddress } from '../../../assembly/addresses.ts';
import { hasRealPods } from '../../../assembly/cluster-nodes/node-plan.ts';
import type { ApiAddress } from '../../../assembly/context.ts';
import { authentication } from '../../../assembly/control-plane/authentication.ts';
import type { TokenSettings } from '../../../assembly/control-plane/service-account-tokens.ts';
import type { ControlPlaneOptions } from '../../../assembly/control-plane/start-control-plane.ts';
import { machineGuard } from '../../../assembly/machine-guard.ts';
import { allKinds } from '../../../kinds/all.ts';
import type { FrontProxy } from '../../../server/serving/aggregation/front-proxy.ts';
import { storeDriver } from '../../../store/drivers.ts';
import type { Store } from '../../../store/index.ts';
import { release } from '../../version.ts';
import { isChosen } from '../components/choice.ts';
import type { StartContext } from '../context.ts';
import type { Settings } from '../flags.ts';
import { proxiedUsers } from '../identity/proxies.ts';

interface ApiParts {
  readonly store: Store;
  readonly tokens: TokenSettings;
  readonly frontProxy: FrontProxy;
}

export async function apiOptions(
  { settings, inputs, clock, log }: Pick<StartContext, 'settings' | 'inputs' | 'clock' | 'log'>,
  { store, tokens, frontProxy }: ApiParts,
): Promise<ControlPlaneOptions['api']> {
  const { bindAddress, port, serviceClusterIpRange, serviceNodePortRange } = settings;
  const { durable, shared, exclusive } = storeDriver(settings.store);
  return {
    ...{ store, kinds: allKinds, serviceClusterIpRange, ...historyLimits(settings) },
    serviceNodePortRange: `${serviceNodePortRange.first}-${serviceNodePortRange.last}`,
    authentication: await authentication({
      ...{ clock, log, ...inputs.authentication, accounts: tokens, anonymous: settings.anonymousAuth },
      proxied: proxiedUsers(settings),
    }),
    tokenIssuer: tokens.bound,
    release: durable && exclusive ? release : undefined,
    ...inputs.authorization,
    ...{ admission: inputs.admission, flowControl: inputs.flowControl },
    ...{ defaultRoles: true, aggregation: true, frontProxy },
    dialGuard: machineGuard(settings),
    garbageCollection: isChosen('garbage-collector', settings),
    sharedFrom: shared ? hostname() : undefined,
    advertise: { address: advertisedAddress(bindAddress, serviceClusterIpRange), port },
  };
}

/** How far back watches and lists at a revision can go; absent: the default. */
export function historyLimits({ historyDuration, historyBytes }: Pick<Settings, 'historyDuration' | 'historyBytes'>) {
  return {
    ...(historyDuration === undefined ? {} : { historyMilliseconds: historyDuration }),
    ...(historyBytes === undefined ? {} : { historyBytes }),
  };
}

export function tokenOptions(settings: Settings) {
  return {
    issuers: settings.serviceAccountIssuer,
    audiences: settings.apiAudiences,
    maxLifetimeMs: settings.serviceAccountMaxTokenExpiration,
    extendsExpiration: settings.serviceAccountExtendTokenExpiration,
  };
}

/** Where the flags of a start serve the API. */
export function apiAddress({ settings, inputs }: Pick<StartContext, 'settings' | 'inputs'>): ApiAddress {
  const { bindAddress, port, serviceClusterIpRange, clusterDomain } = settings;
  return { bindAddress, port, serviceClusterIpRange, clusterDomain, forPods: hasRealPods(inputs.nodes) };
}
