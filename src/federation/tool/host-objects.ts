/** The objects of a control plane on its host cluster. */

import { withoutUndefined } from '../../base/json/tree.ts';
import { Role } from '../../kinds/groups/access/rbac/role.ts';
import { RoleBinding } from '../../kinds/groups/access/rbac/role-binding.ts';
import { Deployment } from '../../kinds/groups/apps/deployment.ts';
import { Secret } from '../../kinds/groups/core/configuration/secret.ts';
import { Namespace } from '../../kinds/groups/core/namespace.ts';
import { PersistentVolumeClaim } from '../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { Service } from '../../kinds/groups/core/service/service.ts';
import { ServiceAccount } from '../../kinds/groups/core/service-account.ts';
import { argumentsWith } from './argument-overrides.ts';
import {
  type ControlPlane,
  claimName,
  credentialsName,
  FEDERATION_NAME,
  FEDERATIONS,
  managerName,
  type ObjectToCreate,
  objectOf,
  serverName,
} from './control-plane.ts';
import { type Credentials, credentialsDigest } from './credentials.ts';

const LABELS = { app: 'federated-cluster' };
const SERVER_MODULE = 'federation-apiserver';
const MANAGER_MODULE = 'federation-controller-manager';
const SERVER_FILES = '/etc/federation/apiserver';
const MANAGER_FILES = '/etc/federation/controller-manager';
const DNS_FILES = '/etc/federation/dns-provider';
const ETCD_FILES = '/var/etcd';
const SECURE_PORT = 8443;
const ADMIN = 'admin';
/** Restarts the pods when credentials change: files of a running pod do not. */
const CREDENTIALS_DIGEST = 'federation.kubernetes.io/credentials-digest';

const metadata = (plane: ControlPlane, name: string, labels: object = LABELS) => ({
  name,
  namespace: plane.namespace,
  annotations: { [FEDERATION_NAME]: plane.name },
  labels: Object.keys(labels).length > 0 ? labels : undefined,
});

export function namespaceObject({ name, namespace }: ControlPlane): ObjectToCreate {
  return objectOf(Namespace, { metadata: { name: namespace, annotations: { [FEDERATION_NAME]: name } } });
}

export function serviceObject(plane: ControlPlane): ObjectToCreate {
  const ports = [{ name: 'https', protocol: 'TCP', port: 443, targetPort: 'https' }];
  const spec = { type: plane.serviceType, ports, selector: { ...LABELS, module: SERVER_MODULE } };
  return objectOf(Service, { metadata: metadata(plane, serverName(plane)), spec });
}

/** Returns claims; none when state is not persistent. */
export function claimObjects(plane: ControlPlane): readonly ObjectToCreate[] {
  if (!plane.storage) return [];
  const { capacity, className } = plane.storage;
  const spec = {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: capacity } },
    storageClassName: className,
  };
  return [objectOf(PersistentVolumeClaim, { metadata: metadata(plane, claimName(plane)), spec })];
}

/** Secrets with the credentials of the API server and of the controller manager, and the configuration of the DNS provider. */
export function secretObjects(plane: ControlPlane, credentials: Credentials): readonly ObjectToCreate[] {
  const { ca, server, token, password } = credentials;
  const secret = (name: string, data: Readonly<Record<string, string>>) =>
    objectOf(Secret, { metadata: metadata(plane, name, {}), type: 'Opaque', data: encoded(data) });
  return [
    secret(
      credentialsName(plane),
      withoutUndefined({
        'ca.crt': ca,
        'server.crt': server.cert,
        'server.key': server.key,
        'basicauth.csv': plane.hasBasicAuth ? `${password},${ADMIN},${ADMIN},system:masters\n` : undefined,
        'token.csv': plane.hasTokenAuth ? `${token},${ADMIN},${ADMIN},system:masters\n` : undefined,
      }),
    ),
    secret(`${managerName(plane)}-kubeconfig`, { kubeconfig: managerKubeconfig(plane, credentials) }),
    ...(plane.dns.config === undefined
      ? []
      : [secret(dnsSecretName(plane), { [plane.dns.provider]: plane.dns.config })]),
  ];
}

const dnsSecretName = ({ name }: ControlPlane) => `${name}-dns-provider.conf`;

function managerKubeconfig(plane: ControlPlane, { ca, manager }: Credentials): string {
  const { name } = plane;
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster: { server: `https://${serverName(plane)}`, 'certificate-authority-data': base64(ca) } }],
    users: [
      { name, user: { 'client-certificate-data': base64(manager.cert), 'client-key-data': base64(manager.key) } },
    ],
    contexts: [{ name, context: { cluster: name, user: name } }],
  };
  return `${JSON.stringify(config, null, 2)}\n`;
}

export function serverDeployment(plane: ControlPlane, credentials: Credentials): ObjectToCreate {
  const { storage, etcdImage, program } = plane;
  const data = storage ? [{ name: 'etcddata', persistentVolumeClaim: { claimName: claimName(plane) } }] : [];
  const dataMounts = storage ? [{ name: 'etcddata', mountPath: ETCD_FILES }] : [];
  const secret = credentialsName(plane);
  const server = {
    name: 'apiserver',
    image: plane.image,
    imagePullPolicy: 'IfNotPresent',
    command: [...program, SERVER_MODULE, ...serverArguments(plane)],
    ports: [{ name: 'https', containerPort: SECURE_PORT, protocol: 'TCP' }],
    readinessProbe: { tcpSocket: { port: 'https' }, periodSeconds: 2 },
    volumeMounts: [
      { name: secret, mountPath: SERVER_FILES, readOnly: true },
      ...(etcdImage === undefined ? dataMounts : []),
    ],
  };
  const etcd = {
    name: 'etcd',
    image: etcdImage,
    imagePullPolicy: 'IfNotPresent',
    // Found by PATH, so that the program of a node that runs processes can be used (image `host`).
    command: ['etcd', '--data-dir', `${ETCD_FILES}/data`],
    volumeMounts: dataMounts,
  };
  return deployment(plane, {
    name: serverName(plane),
    module: SERVER_MODULE,
    credentials,
    // The store is used by one server at a time.
    strategy: { type: 'Recreate' },
    spec: {
      volumes: [{ name: secret, secret: { secretName: secret } }, ...data],
      containers: [server, ...(etcdImage === undefined ? [] : [etcd])],
    },
  });
}

function serverArguments(plane: ControlPlane): readonly string[] {
  const { etcdImage, storage, advertiseAddress } = plane;
  return argumentsWith(
    withoutUndefined({
      '--admission-control': 'NamespaceLifecycle',
      '--advertise-address': advertiseAddress,
      '--basic-auth-file': plane.hasBasicAuth ? `${SERVER_FILES}/basicauth.csv` : undefined,
      '--bind-address': '0.0.0.0',
      '--client-ca-file': `${SERVER_FILES}/ca.crt`,
      '--etcd-servers': etcdImage === undefined ? undefined : 'http://localhost:2379',
      '--data-dir': etcdImage === undefined && storage ? `${ETCD_FILES}/data` : undefined,
      '--secure-port': String(SECURE_PORT),
      '--tls-cert-file': `${SERVER_FILES}/server.crt`,
      '--tls-private-key-file': `${SERVER_FILES}/server.key`,
      '--token-auth-file': plane.hasTokenAuth ? `${SERVER_FILES}/token.csv` : undefined,
    }),
    plane.serverOverrides,
  );
}

/** The controller manager, with the service account that reads the credentials of members. */
export function managerObjects(plane: ControlPlane, credentials: Credentials): readonly ObjectToCreate[] {
  const role = `${plane.namespace}:${MANAGER_MODULE}`;
  const rules = [
    { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list', 'watch'] },
    // Only one manager leads at a time, also while a deployment replaces its pod.
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'update'] },
  ];
  return [
    objectOf(ServiceAccount, { metadata: metadata(plane, MANAGER_MODULE) }),
    objectOf(Role, { metadata: metadata(plane, role), rules }),
    objectOf(RoleBinding, {
      metadata: metadata(plane, role),
      subjects: [{ kind: 'ServiceAccount', name: MANAGER_MODULE, namespace: plane.namespace }],
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: role },
    }),
    managerDeployment(plane, credentials),
  ];
}

function managerDeployment(plane: ControlPlane, credentials: Credentials): ObjectToCreate {
  const { dns, name } = plane;
  const secret = `${managerName(plane)}-kubeconfig`;
  const hasConfig = dns.config !== undefined;
  const manager = {
    name: 'controller-manager',
    image: plane.image,
    imagePullPolicy: 'IfNotPresent',
    command: [...plane.program, MANAGER_MODULE, ...managerArguments(plane)],
    env: [
      { name: 'POD_NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } },
      { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    ],
    volumeMounts: [
      { name: secret, mountPath: MANAGER_FILES, readOnly: true },
      ...(hasConfig ? [{ name: 'dns-provider', mountPath: DNS_FILES, readOnly: true }] : []),
    ],
  };
  return deployment(plane, {
    name: managerName(plane),
    module: MANAGER_MODULE,
    credentials,
    annotations: { [FEDERATIONS]: `${name}=${dns.zone.replace(/\.$/, '')}` },
    spec: {
      volumes: [
        { name: secret, secret: { secretName: secret } },
        ...(hasConfig ? [{ name: 'dns-provider', secret: { secretName: dnsSecretName(plane) } }] : []),
      ],
      containers: [manager],
      serviceAccountName: MANAGER_MODULE,
    },
  });
}

function managerArguments(plane: ControlPlane): readonly string[] {
  const { dns, name } = plane;
  return argumentsWith(
    {
      '--dns-provider': dns.provider,
      ...(dns.config === undefined ? {} : { '--dns-provider-config': `${DNS_FILES}/${dns.provider}` }),
      '--federation-name': name,
      '--kubeconfig': `${MANAGER_FILES}/kubeconfig`,
      '--master': `https://${serverName(plane)}`,
      '--zone-name': dns.zone,
    },
    plane.managerOverrides,
  );
}

interface DeploymentOptions {
  readonly name: string;
  readonly module: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly strategy?: object;
  readonly credentials: Credentials;
  readonly spec: object;
}

function deployment(plane: ControlPlane, options: DeploymentOptions): ObjectToCreate {
  const { name, module, annotations = {}, strategy, credentials, spec } = options;
  const labels = { ...LABELS, module };
  const own = metadata(plane, name);
  const digest = { [FEDERATION_NAME]: plane.name, [CREDENTIALS_DIGEST]: credentialsDigest(credentials) };
  return objectOf(Deployment, {
    metadata: { ...own, annotations: { ...own.annotations, ...annotations } },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      strategy,
      template: { metadata: { name, labels, annotations: digest }, spec },
    },
  });
}

/** DNS names of the API server inside of the host cluster. */
export function serviceNames(plane: ControlPlane): readonly string[] {
  const name = serverName(plane);
  const { namespace } = plane;
  return [name, `${name}.${namespace}`, `${name}.${namespace}.svc`, `${name}.${namespace}.svc.cluster.local`];
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

function encoded(data: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(data).map(([key, text]) => [key, base64(text)]));
}
