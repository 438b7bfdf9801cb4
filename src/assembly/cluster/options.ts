import type { UpgradePort } from '../../api/machine-upgrade.ts';
import type { Release } from '../../api/release.ts';
import type { ServedAction } from '../../api/served-action.ts';
import type { WorkMonitor } from '../../base/event-loop/watchdog.ts';
import type { Server } from '../../server/index.ts';
import type { FrontProxy } from '../../server/serving/aggregation/front-proxy.ts';
import type { Tls } from '../../server/serving/http/listen/listeners.ts';
import type { HttpServerOptions } from '../../server/serving/http/server.ts';
import type { EventLoopMetrics } from '../../server/serving/metrics/event-loop.ts';
import type { Store } from '../../store/index.ts';
import type { MovableStore } from '../../store/migration/movable-store.ts';
import type { Cleanup } from '../cleanup.ts';
import type { IngressOptions } from '../cluster-network/ingress.ts';
import type { NodePlan } from '../cluster-nodes/node-plan.ts';
import type { RealNodesOptions } from '../cluster-nodes/real-nodes.ts';
import type { ApiAddress, Environment } from '../context.ts';
import type { AuditOptions } from '../control-plane/audit.ts';
import type { AuthenticationOptions } from '../control-plane/authentication.ts';
import type { TokenOptions } from '../control-plane/service-account-tokens.ts';
import type { ControlPlaneOptions } from '../control-plane/start-control-plane.ts';
import type { MemberPlan } from '../etcd/member.ts';
import type { Pki } from '../keys/pki.ts';
import type { BackupPlan } from '../store/backups/open-backups.ts';
import type { StoreOptions } from '../store/open.ts';
import type { ManualClock } from '../test-facilities/manual-clock.ts';
import type { StartPart } from './parts.ts';

/** Server options that the start of a cluster sets. */
type FromStart =
  | 'store'
  | 'archive'
  | 'authentication'
  | 'tokenIssuer'
  | 'frontProxy'
  | 'serviceClusterIpRange'
  | 'advertise'
  | 'peer'
  | 'defaultRoles'
  | 'aggregation'
  | 'historyMilliseconds'
  | 'historyBytes'
  | 'dialGuard'
  | 'garbageCollection';

export interface ClusterOptions extends Environment {
  readonly startPart: StartPart;
  /** Is told what runs. */
  readonly monitor: WorkMonitor;
  /** Where blockages of event loops are counted. */
  readonly eventLoops: EventLoopMetrics;
  /** The clock of the cluster, when its users move it. */
  readonly manual: ManualClock | undefined;
  /** True when faults are served. */
  readonly faults: boolean | undefined;
  /** Path of the data directory, which exists. */
  readonly directory: string;
  readonly address: ApiAddress;
  /** Addresses that objects may lead to, whatever they are. */
  readonly allowedDialRanges: readonly string[];
  /** True when nothing is dialled, whatever objects say: webhooks, nodes, other API servers. */
  readonly isIsolated?: boolean;
  readonly store: Pick<
    StoreOptions,
    'driver' | 'settings' | 'keyFile' | 'historyMilliseconds' | 'historyBytes' | 'archive'
  >;
  /** The member of etcd that the cluster runs, on which its store is; undefined: it runs none. */
  readonly member: MemberPlan | undefined;
  /** Stops that member, when it runs already; undefined: it is started. */
  readonly runningMember: Pick<Cleanup, 'run'> | undefined;
  /** Actions on the store that administrators may ask for over the API. */
  storeActions(store: MovableStore, server: Server): readonly ServedAction[];
  /** The release of this program. */
  readonly release: Release;
  /** Where backups go; undefined: none are taken. */
  readonly backups: BackupPlan | undefined;
  /** Replaces this program with another release. */
  readonly upgrades: UpgradePort;
  /** Called when this release may not use the store any more: stops the program. */
  readonly rejected: () => void;
  /** Settles with the other servers of a shared store what all of them must agree on; rejects when they do not. */
  agree(store: Store): Promise<void>;
  /** Resolves with what they have agreed on. */
  agreed(store: Store): Promise<object>;
  /** Fills the store with objects to start with, and resolves with their number. */
  readonly restore: ((store: Store) => Promise<number>) | undefined;
  readonly api: Omit<ControlPlaneOptions['api'], FromStart>;
  readonly tokens: TokenOptions;
  /** Whom the server knows besides holders of the cluster's own certificates and tokens. */
  readonly users: Pick<AuthenticationOptions, 'tokens' | 'passwords' | 'oidc' | 'proxied' | 'anonymous'>;
  /** Adds the operator's authorities to those of the cluster; asked again when keys were renewed. */
  readonly trust: {
    readonly tlsOf: (pki: Pki) => Promise<Tls>;
    readonly frontProxyOf: (pki: Pki) => Promise<FrontProxy>;
  };
  readonly audit: Pick<AuditOptions, 'policy' | 'file' | 'webhook' | 'write'>;
  readonly http: Pick<HttpServerOptions, 'limits' | 'version' | 'open'>;
  /** A port of loopback where the API is served without authentication; 0: there is none. */
  readonly insecurePort: number;
  readonly components: {
    /** Reports whether the controller of this name, or the scheduler, runs. */
    readonly runs: (name: string) => boolean;
    readonly volumesDirectory: string;
    /** Maximum lifetime of certificates that are issued for CertificateSigningRequests. */
    readonly maxCertificateMs: number;
  };
  readonly nodes: NodePlan;
  readonly node: Pick<RealNodesOptions, 'config' | 'endpoint' | 'hidden' | 'volumesDirectory' | 'version'>;
  /** Undefined: there is no Ingress controller. */
  readonly ingress: Pick<IngressOptions, 'ports' | 'sharesHosts' | 'allowsExternalNames'> | undefined;
}
