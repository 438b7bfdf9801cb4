/** The health checks of a server, under the names of Kubernetes. */

import { ClusterRole } from '../../../kinds/groups/access/rbac/cluster-role.ts';
import { ClusterRoleBinding } from '../../../kinds/groups/access/rbac/cluster-role-binding.ts';
import { ConfigMap } from '../../../kinds/groups/core/configuration/config-map.ts';
import { Namespace } from '../../../kinds/groups/core/namespace.ts';
import { Endpoints } from '../../../kinds/groups/core/service/endpoints.ts';
import { Service } from '../../../kinds/groups/core/service/service.ts';
import { MutatingWebhookConfiguration } from '../../../kinds/groups/extension/admissionregistration/mutating-webhook-configuration.ts';
import { MutatingAdmissionPolicy } from '../../../kinds/groups/extension/admissionregistration/policies/mutating-admission-policy.ts';
import { ValidatingAdmissionPolicy } from '../../../kinds/groups/extension/admissionregistration/policies/validating-admission-policy.ts';
import { ValidatingWebhookConfiguration } from '../../../kinds/groups/extension/admissionregistration/validating-webhook-configuration.ts';
import { FlowSchema } from '../../../kinds/groups/flowcontrol/flow-schema.ts';
import { PriorityLevelConfiguration } from '../../../kinds/groups/flowcontrol/priority-level-configuration.ts';
import { IPAddress } from '../../../kinds/groups/networking/ip-address.ts';
import { ServiceCIDR } from '../../../kinds/groups/networking/service-cidr.ts';
import { PriorityClass } from '../../../kinds/groups/scheduling/priority-class.ts';
import type { Kind } from '../../../kinds/kind.ts';
import { defaultLevels, defaultSchemas } from '../../access/fairness/defaults.ts';
import type { Cache } from '../../objects/cache/cache.ts';
import { SYSTEM_PRIORITY_CLASSES } from '../../upkeep/bootstrap.ts';
import type { CustomKinds } from '../../upkeep/custom-kinds/custom-kinds.ts';
import type { Aggregation } from '../aggregation/aggregation.ts';
import type { HealthCheck } from '../http/documents/health.ts';

/** The parts of a server that are checked, if present. */
export interface CheckedServer {
  readonly cache: Cache;
  readonly customKinds: CustomKinds | undefined;
  readonly aggregation: Aggregation | undefined;
  readonly namespaces: readonly string[];
  /** The cluster IP of the service `kubernetes`; undefined when there is none. */
  readonly serviceAddress: string | undefined;
  readonly hasPriorities: boolean;
  readonly hasDefaultRoles: boolean;
  readonly hasFairness: boolean;
}

/** Returns problems; the check passes when there are none. */
type Problems = () => readonly string[];

export function serverChecks(server: CheckedServer): readonly HealthCheck[] {
  const { cache, customKinds, aggregation } = server;
  const informers: Problems = () => (cache.isFollowing ? [] : ['the cache does not follow the store']);
  const lacking =
    (kind: Kind, names: Iterable<string>, namespace = ''): Problems =>
    () =>
      [...names].filter((name) => !cache.table(kind).get(namespace, name)).map((name) => missing(kind, name));
  const admission: Problems = () => ADMISSION.flatMap((kind) => unreadable(cache, kind));
  const { serviceAddress } = server;
  return [
    { name: 'informer-sync', check: passing(informers), endpoints: ['readyz'] },
    hook('start-apiserver-admission-initializer', admission),
    hook('generic-apiserver-start-informers', informers),
    ...hooks(server.hasFairness, {
      'priority-and-fairness-config-producer': both(
        lacking(PriorityLevelConfiguration, defaultLevels.keys()),
        lacking(FlowSchema, defaultSchemas.keys()),
      ),
    }),
    ...hooks(customKinds, {
      'start-apiextensions-informers': informers,
      'start-apiextensions-controllers': () => (customKinds!.isRunning ? [] : ['custom kinds are not followed']),
      'crd-informer-synced': () => customKinds!.unfollowed,
    }),
    hook('storage-readiness', informers),
    ...hooks(serviceAddress, {
      'bootstrap-controller': both(
        lacking(Service, [KUBERNETES], 'default'),
        lacking(Endpoints, [KUBERNETES], 'default'),
      ),
    }),
    hook('start-system-namespaces-controller', lacking(Namespace, server.namespaces)),
    ...hooks(serviceAddress, {
      'start-service-ip-repair-controllers': both(
        lacking(ServiceCIDR, [KUBERNETES]),
        lacking(IPAddress, [serviceAddress!]),
      ),
    }),
    ...hooks(server.hasDefaultRoles, {
      'rbac/bootstrap-roles': both(lacking(ClusterRole, [ADMIN_ROLE]), lacking(ClusterRoleBinding, [ADMIN_ROLE])),
    }),
    ...hooks(server.hasPriorities, {
      'scheduling/bootstrap-system-priority-classes': lacking(PriorityClass, SYSTEM_PRIORITY_CLASSES),
    }),
    ...hooks(aggregation, {
      'start-cluster-authentication-info-controller': lacking(ConfigMap, [AUTHENTICATION], 'kube-system'),
      'start-kube-aggregator-informers': informers,
      'apiservice-registration-controller': () => (aggregation!.local.isRunning ? [] : ['APIServices are not kept']),
      'apiservice-status-local-available-controller': () => aggregation!.others.withoutStatus,
      'apiservice-status-remote-available-controller': () => aggregation!.others.unfollowed,
      'kube-apiserver-autoregistration': () => aggregation!.local.missing,
      'apiservice-openapi-controller': () =>
        aggregation!.others.isIdentified ? [] : ['the server cannot identify itself to other API servers'],
    }),
    ...(aggregation ? [{ name: 'autoregister-completion', check: passing(() => aggregation.local.missing) }] : []),
  ];
}

const KUBERNETES = 'kubernetes';
const ADMIN_ROLE = 'cluster-admin';
const AUTHENTICATION = 'extension-apiserver-authentication';

const ADMISSION = [
  ...[MutatingWebhookConfiguration, ValidatingWebhookConfiguration],
  ...[MutatingAdmissionPolicy, ValidatingAdmissionPolicy],
];

const missing = ({ plural }: Kind, name: string) => `${plural}/${name} is missing`;

function unreadable(cache: Cache, kind: Kind): readonly string[] {
  const found = cache.table(kind).entries('');
  return [...found].filter((entry) => entry.failure(kind)).map(({ at }) => `${kind.plural}/${at.name} cannot be read`);
}

const both =
  (first: Problems, second: Problems): Problems =>
  () => [...first(), ...second()];

function hooks(part: unknown, problems: Readonly<Record<string, Problems>>): readonly HealthCheck[] {
  return part ? Object.entries(problems).map(([name, each]) => hook(name, each)) : [];
}

/** A check of something that the server starts and then keeps running or reconciled. */
function hook(name: string, problems: Problems): HealthCheck {
  return { name: `poststarthook/${name}`, check: passing(problems), isOfStart: true };
}

function passing(problems: Problems) {
  return () => {
    const found = problems();
    if (found.length > 0) throw new Error(found.join(', '));
  };
}
