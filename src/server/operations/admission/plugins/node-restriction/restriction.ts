/**
 * The admission plugin NodeRestriction: a node may write only about itself and its own pods. The node authorizer checks
 * which objects a node may write; this plugin checks the content of its writes.
 */
import { notFound } from '../../../../../api/errors.ts';
import { deepEqual } from '../../../../../base/json/tree.ts';
import type { TokenRequest } from '../../../../../kinds/groups/access/authentication/token-request.ts';
import { Node } from '../../../../../kinds/groups/core/node/node.ts';
import { isNodeOwnLabel } from '../../../../../kinds/groups/core/node/own-labels.ts';
import type { PersistentVolume } from '../../../../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import type { PersistentVolumeClaim } from '../../../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { Pod } from '../../../../../kinds/groups/core/pod/pod.ts';
import type { ResourceSlice } from '../../../../../kinds/groups/resource/resource-slice.ts';
import type { Kind, KubeObject } from '../../../../../kinds/kind.ts';
import { isToRemove, nodeDirectory, REMOVAL } from '../../../../../kinds/volumes/node-directory.ts';
import { parseRequest } from '../../../../../protocols/x509/request.ts';
import { nodeOf } from '../../../../access/authz/node/identity.ts';
import { MIRROR_ANNOTATION } from '../../../../access/authz/node/node-pods.ts';
import { referencesOf } from '../../../../access/authz/node/references.ts';
import type { Access } from '../../../../access/ports.ts';
import { type AdmissionRequest, rejected } from '../../../../objects/admission/request.ts';
import type { Reader } from '../../../../objects/ports.ts';
import type { AdmissionPlugin } from '../../plugin.ts';
import { podAddressProblem } from './pod-addresses.ts';
import { checkAudience } from './token-audience.ts';

type Ports = Pick<Reader, 'cache'> & Pick<Access, 'authorizer' | 'tokenIssuer'>;

type Check = (core: Ports, request: AdmissionRequest, node: string) => void | Promise<void>;

const SERVING_SIGNER = 'kubernetes.io/kubelet-serving';
const CLIENT_SIGNER = 'kubernetes.io/kube-apiserver-client-kubelet';
const NODE_LEASE_NAMESPACE = 'kube-node-lease';

/** Checks by resource, with the group unless it is the core group. */
const CHECKS: ReadonlyMap<string, Check> = new Map(
  Object.entries({
    pods: checkPod,
    nodes: checkNode,
    persistentvolumeclaims: checkClaim,
    persistentvolumes: checkDirectory,
    serviceaccounts: checkToken,
    'leases.coordination.k8s.io': checkLease,
    'csinodes.storage.k8s.io': (_, request, node) =>
      checkOwnName(request, node, 'can only access CSINode with the same name as the requesting node'),
    'resourceslices.resource.k8s.io': checkSlice,
    'certificatesigningrequests.certificates.k8s.io': checkCertificateRequest,
  }),
);

const checkOf = ({ group, plural }: Kind): Check | undefined => CHECKS.get(group ? `${plural}.${group}` : plural);

export const nodeRestriction: AdmissionPlugin = {
  name: 'NodeRestriction',
  keepsDefaults: true,

  handles: (kind, operation) => operation !== 'CONNECT' && checkOf(kind) !== undefined,

  admit(core, request) {
    const node = nodeOf(request.user);
    if (node === undefined) return undefined;
    if (node === '') throw rejected(request, `could not determine node from user ${JSON.stringify(request.user.name)}`);
    return checkOf(request.kind)?.(core, request, node);
  },
};

function checkPod(core: Ports, request: AdmissionRequest, node: string): void {
  switch (request.subresource ?? '') {
    case '':
      checkWholePod(core, request, node);
      return;
    case 'status':
      checkPodStatus(core, request, node);
      return;
    case 'eviction':
      if (podNamed(core, request.namespace, request.name).spec.nodeName === node) return;
      throw rejected(request, `node ${node} can only evict pods with spec.nodeName set to itself`);
    default:
      throw rejected(
        request,
        `unexpected pod subresource "${request.subresource}", only 'status' and 'eviction' are allowed`,
      );
  }
}

function checkWholePod(core: Ports, request: AdmissionRequest, node: string): void {
  const { operation, namespace, name, old } = request;
  switch (operation) {
    case 'CREATE':
      checkMirrorPod(core, request, node);
      return;
    case 'DELETE': {
      const pod = (old as Pod | undefined) ?? podNamed(core, namespace, name);
      if (pod.spec.nodeName === node) return;
      throw rejected(request, `node "${node}" can only delete pods with spec.nodeName set to itself`);
    }
    default:
      throw rejected(
        request,
        `unexpected operation "${operation}", node "${node}" can only create and delete mirror pods`,
      );
  }
}

/** Checks a mirror pod, which represents a static pod of the node: the node owns it, and it refers to nothing. */
function checkMirrorPod(core: Ports, request: AdmissionRequest, node: string): void {
  const pod = request.object as Pod;
  const reject = (why: string) => rejected(request, why);
  const { annotations, ownerReferences = [] } = pod.metadata;
  if (annotations?.[MIRROR_ANNOTATION] === undefined) {
    throw reject(`pod does not have "${MIRROR_ANNOTATION}" annotation, node "${node}" can only create mirror pods`);
  }
  if (pod.spec.nodeName !== node) throw reject(`node "${node}" can only create pods with spec.nodeName set to itself`);
  const [owner, second] = ownerReferences;
  if (second) throw reject(`node "${node}" can only create pods with a single owner reference set to itself`);
  if (owner?.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node) {
    throw reject(`node "${node}" can only create pods with an owner reference set to itself`);
  }
  if (!owner.controller) {
    throw reject(`node "${node}" can only create pods with a controller owner reference set to itself`);
  }
  if (owner.blockOwnerDeletion) throw reject(`node "${node}" must not set blockOwnerDeletion on an owner reference`);
  const entry = core.cache.table(Node).get('', node);
  if (!entry) throw notFound(Node, node);
  const { uid } = entry.hub(Node).metadata;
  if (owner.uid !== uid) throw reject(`node ${node} UID mismatch: expected ${owner.uid} got ${uid}`);
  const [reference] = referencesOf(pod);
  if (reference) throw reject(`node "${node}" can not create pods that reference ${reference.kind}`);
}

function checkPodStatus(core: Ports, request: AdmissionRequest, node: string): void {
  const object = request.object as Pod;
  const old = request.old as Pod;
  if (request.operation !== 'UPDATE') throw rejected(request, `unexpected operation "${request.operation}"`);
  if (old.spec.nodeName !== node) {
    throw rejected(request, `node "${node}" can only update pod status for pods with spec.nodeName set to itself`);
  }
  if (!deepEqual(object.metadata.labels ?? {}, old.metadata.labels ?? {})) {
    throw rejected(request, `node "${node}" cannot update labels through pod status`);
  }
  if (!deepEqual(object.status?.resourceClaimStatuses, old.status?.resourceClaimStatuses)) {
    throw rejected(request, `node "${node}" cannot update resource claim statues`);
  }
  if (!deepEqual(object.status?.extendedResourceClaimStatus, old.status?.extendedResourceClaimStatus)) {
    throw rejected(request, `node "${node}" cannot update extended resource claim status`);
  }
  const problem = podAddressProblem(core, object, old, node);
  if (problem !== undefined) throw rejected(request, `node "${node}" cannot report the pod IP ${problem}`);
}

function checkNode(_core: Ports, request: AdmissionRequest, node: string): void {
  const { operation, name } = request;
  const target = name || (request.object?.metadata.name ?? '');
  if (target !== node) throw rejected(request, `node "${node}" is not allowed to modify node "${target}"`);
  if (operation === 'DELETE') return;
  const object = request.object as Node;
  const old = request.old as Node | undefined;
  if (object.spec?.configSource && !deepEqual(object.spec.configSource, old?.spec?.configSource)) {
    const why = old
      ? 'is not allowed to update configSource to a new non-nil configSource'
      : 'is not allowed to create pods with a non-nil configSource';
    throw rejected(request, `node "${node}" ${why}`);
  }
  checkLabels(request, node);
  if (!old) return;
  if (!deepEqual(object.spec?.taints ?? [], old.spec?.taints ?? [])) {
    throw rejected(request, `node "${node}" is not allowed to modify taints`);
  }
  if (!deepEqual(object.metadata.ownerReferences ?? [], old.metadata.ownerReferences ?? [])) {
    throw rejected(request, `node "${node}" is not allowed to modify ownerReferences`);
  }
}

const RESIZE_STATUS_FIELDS = ['capacity', 'conditions', 'allocatedResources', 'allocatedResourceStatuses'];

/** Allows a node only to report the progress of resizing a volume. */
function checkClaim(_core: Ports, request: AdmissionRequest, node: string): void {
  if (request.subresource !== 'status') throw rejected(request, 'may only update PVC status');
  if (request.operation !== 'UPDATE') throw rejected(request, `unexpected operation "${request.operation}"`);
  const rest = (claim: PersistentVolumeClaim) => {
    const { resourceVersion: _, selfLink: __, managedFields: ___, ...metadata } = claim.metadata;
    const status = Object.entries(claim.status ?? {}).filter(([field]) => !RESIZE_STATUS_FIELDS.includes(field));
    return { ...claim, metadata, status };
  };
  if (deepEqual(rest(request.object as PersistentVolumeClaim), rest(request.old as PersistentVolumeClaim))) return;
  throw rejected(
    request,
    `node "${node}" is not allowed to update fields other than status.quantity and status.conditions`,
  );
}

const REMOVAL_STATUS_FIELDS = ['phase', 'message', 'reason'];

/**
 * Checks volumes that are directories on the node: the node reports whether the data was deleted, by removing the
 * finalizer, or by a failure in the status. Other volumes need no check, since the node authorizer does not let a node
 * write them.
 */
function checkDirectory(_core: Ports, request: AdmissionRequest, node: string): void {
  const object = request.object as PersistentVolume;
  const old = request.old as PersistentVolume;
  if (request.operation !== 'UPDATE' || nodeDirectory(old)?.node !== node) return;
  const isStatus = request.subresource === 'status';
  const rest = (volume: PersistentVolume) => {
    const { resourceVersion: _, selfLink: __, managedFields: ___, finalizers = [], ...metadata } = volume.metadata;
    const kept = isStatus ? finalizers : finalizers.filter((each) => each !== REMOVAL);
    const status = Object.entries(volume.status ?? {}).filter(
      ([field]) => !isStatus || !REMOVAL_STATUS_FIELDS.includes(field),
    );
    return { ...volume, metadata: { ...metadata, finalizers: kept }, status };
  };
  const isAllowed = isStatus ? object.status?.phase === 'Failed' : !hasRemovalFinalizer(object);
  if (isToRemove(old) && isAllowed && deepEqual(rest(object), rest(old))) return;
  throw rejected(
    request,
    `node "${node}" can only remove the finalizer of a volume whose data is gone, or say that it failed`,
  );
}

const hasRemovalFinalizer = ({ metadata }: KubeObject) => metadata.finalizers?.includes(REMOVAL) ?? false;

/** Allows a node to request tokens only for its own pods, bound to them. */
async function checkToken(core: Ports, request: AdmissionRequest, node: string): Promise<void> {
  if (request.operation !== 'CREATE' || request.subresource !== 'token') return;
  const { spec } = request.object as TokenRequest;
  const bound = spec.boundObjectRef;
  if (bound?.apiVersion !== 'v1' || bound.kind !== 'Pod' || !bound.name) {
    throw rejected(request, 'node requested token not bound to a pod');
  }
  if (!bound.uid) throw rejected(request, 'node requested token with a pod binding without a uid');
  const pod = podNamed(core, request.namespace, bound.name);
  if (bound.uid !== pod.metadata.uid) {
    throw rejected(
      request,
      `the UID in the bound object reference (${bound.uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  }
  if (pod.spec.nodeName !== node) {
    throw rejected(request, 'node requested token bound to a pod scheduled on a different node');
  }
  await checkAudience(core, request, pod);
}

function checkLease(_core: Ports, request: AdmissionRequest, node: string): void {
  if (request.namespace !== NODE_LEASE_NAMESPACE) {
    throw rejected(request, `can only access leases in the "${NODE_LEASE_NAMESPACE}" system namespace`);
  }
  checkOwnName(request, node, 'can only access node lease with the same name as the requesting node');
}

function checkOwnName(request: AdmissionRequest, node: string, why: string): void {
  const { name, object } = request;
  if ((name || object?.metadata.name) !== node) throw rejected(request, why);
}

function checkSlice(_core: Ports, request: AdmissionRequest, node: string): void {
  const { operation } = request;
  if (operation !== 'CREATE' && operation !== 'DELETE') return;
  const slice = (operation === 'CREATE' ? request.object : request.old) as ResourceSlice | undefined;
  if (slice?.spec.nodeName === node) return;
  throw rejected(
    request,
    `can only ${operation.toLowerCase()} ResourceSlice with the same NodeName as the requesting node`,
  );
}

function checkCertificateRequest(_core: Ports, request: AdmissionRequest, node: string): void {
  if (request.operation !== 'CREATE') return;
  const { spec } = request.object as KubeObject & { spec: { signerName?: string; request?: string } };
  if (spec.signerName !== SERVING_SIGNER && spec.signerName !== CLIENT_SIGNER) return;
  const commonName = commonNameOf(request, spec.request ?? '');
  if (commonName !== `system:node:${node}`) {
    throw rejected(request, `can only create a node CSR with CN=system:node:${node}`);
  }
}

function commonNameOf(request: AdmissionRequest, encoded: string): string {
  try {
    return parseRequest(Buffer.from(encoded, 'base64').toString('latin1')).commonName;
  } catch (error) {
    throw rejected(request, `unable to parse csr: ${(error as Error).message}`);
  }
}

function podNamed(core: Ports, namespace: string, name: string): Pod {
  const entry = core.cache.table(Pod).get(namespace, name);
  if (!entry) throw notFound(Pod, name);
  return entry.hub(Pod);
}

function checkLabels(request: AdmissionRequest, node: string): void {
  const after = request.object?.metadata.labels ?? {};
  const before = request.old?.metadata.labels ?? {};
  const changed = [...new Set([...Object.keys(after), ...Object.keys(before)])];
  const rejectedKeys = changed.filter((key) => after[key] !== before[key] && !isNodeOwnLabel(key)).sort();
  if (rejectedKeys.length === 0) return;
  const keys = rejectedKeys.join(', ');
  throw rejected(
    request,
    request.old
      ? `is not allowed to modify labels: ${keys}`
      : `node "${node}" is not allowed to set the following labels: ${keys}`,
  );
}
