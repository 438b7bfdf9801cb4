/** What a node may do: report itself and its pods, and read what those pods need. All else is left to others. */
import { PersistentVolume } from '../../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PersistentVolumeClaim } from '../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { Pod } from '../../../kinds/groups/core/pod/pod.ts';
import { ResourceSlice } from '../../../kinds/groups/resource/resource-slice.ts';
import { VolumeAttachment } from '../../../kinds/groups/storage/volume-attachment.ts';
import type { Kind, KubeObject } from '../../../kinds/kind.ts';
import { NODE as DIRECTORY_NODE, nodeDirectory } from '../../../kinds/volumes/node-directory.ts';
import type { User } from '../../api.ts';
import type { Cache } from '../../cache/cache.ts';
import {
  ALLOW,
  type Attributes,
  type Authorizer,
  type Decision,
  NO_OPINION,
  NO_RULES,
  type ResourceAttributes,
  type Rules,
  type SelectorRequirement,
} from '../authorizer.ts';
import { systemRules } from '../rbac/policy/system.ts';
import { ruleAllows } from '../rbac/rule.ts';
import { nodeOf } from './identity.ts';
import { NodePods } from './node-pods.ts';
import { type ReferredKind, secretsOfVolume } from './references.ts';

const NODE_LEASES = 'kube-node-lease';
const SAME_NAME_VERBS = ['get', 'create', 'update', 'patch', 'delete'];

const not = (reason: string): Decision => ({ verdict: 'noOpinion', reason });

/** An object whose spec names its node. */
type WithNode = KubeObject & { readonly spec: { readonly nodeName?: string } };

export class NodeAuthorizer implements Authorizer {
  readonly #cache: Cache;
  readonly #pods: NodePods;

  constructor(cache: Cache) {
    this.#cache = cache;
    this.#pods = new NodePods(cache);
  }

  authorize(attributes: Attributes): Decision {
    const node = nodeOf(attributes.user);
    if (node === undefined) return NO_OPINION;
    if (node === '') return not(`unknown node for user ${JSON.stringify(attributes.user.name)}`);
    const divided = attributes.path === undefined ? this.#divided(node, attributes) : undefined;
    if (divided) return divided;
    return systemRules.node?.some((rule) => ruleAllows(rule, attributes)) ? ALLOW : NO_OPINION;
  }

  rulesFor(user: User): Rules {
    if (nodeOf(user) === undefined) return NO_RULES;
    return { ...NO_RULES, incomplete: true, error: 'node authorizer does not support user rule resolution' };
  }

  /** What is given object by object; undefined for everything else. */
  #divided(node: string, attributes: ResourceAttributes): Decision | undefined {
    const { group, resource, subresource } = attributes;
    switch (group ? `${resource}.${group}` : resource) {
      case 'secrets':
        return reading(attributes) ?? this.#secret(node, attributes);
      case 'configmaps':
        return reading(attributes) ?? this.#needed(node, 'configmaps', attributes);
      case 'persistentvolumeclaims':
        return (
          (subresource === 'status' ? updatingStatus(attributes) : getting(attributes)) ??
          this.#needed(node, 'persistentvolumeclaims', attributes)
        );
      case 'persistentvolumes':
        return this.#directory(node, attributes) ?? getting(attributes) ?? this.#volume(node, attributes);
      case 'resourceclaims.resource.k8s.io':
        return getting(attributes) ?? this.#needed(node, 'resourceclaims', attributes);
      case 'volumeattachments.storage.k8s.io':
        return getting(attributes) ?? this.#own(node, VolumeAttachment, attributes);
      case 'serviceaccounts':
        return this.#account(node, attributes);
      case 'leases.coordination.k8s.io':
        return lease(node, attributes);
      case 'csinodes.storage.k8s.io':
        return csiNode(node, attributes);
      case 'resourceslices.resource.k8s.io':
        return this.#slice(node, attributes);
      case 'nodes':
        return itself(node, attributes);
      case 'pods':
        return this.#pod(node, attributes);
      default:
        return undefined;
    }
  }

  #needed(node: string, kind: ReferredKind, { namespace, name }: ResourceAttributes): Decision {
    if (name === '') return not('No Object name found');
    return this.#pods.needs(node, kind, { namespace, name }) ? ALLOW : unrelated(node);
  }

  /** Through a pod, or through a volume that one of its pods has. */
  #secret(node: string, attributes: ResourceAttributes): Decision {
    const decision = this.#needed(node, 'secrets', attributes);
    if (decision === ALLOW || attributes.name === '') return decision;
    const { namespace, name } = attributes;
    for (const claim of this.#pods.claims(node)) {
      const volume = this.#volumeOf(claim);
      if (volume && secretsOfVolume(volume).some((each) => each.namespace === namespace && each.name === name)) {
        return ALLOW;
      }
    }
    return decision;
  }

  /** Both must name each other: a claim alone can ask for any volume. */
  #volumeOf({ namespace, name }: { namespace: string; name: string }): PersistentVolume | undefined {
    const claim = this.#read(PersistentVolumeClaim, namespace, name);
    const volume = claim && this.#read(PersistentVolume, '', claim.spec?.volumeName ?? '');
    const { claimRef } = volume?.spec ?? {};
    return claimRef?.namespace === namespace && claimRef?.name === name ? volume : undefined;
  }

  #volume(node: string, { name }: ResourceAttributes): Decision {
    const { claimRef } = this.#read(PersistentVolume, '', name)?.spec ?? {};
    if (!claimRef) return unrelated(node);
    const at = { namespace: claimRef.namespace ?? '', name: claimRef.name ?? '' };
    return this.#pods.needs(node, 'persistentvolumeclaims', at) ? ALLOW : unrelated(node);
  }

  /** Volumes that are directories of the node: it finds them by label, and writes when their data is gone. */
  #directory(node: string, attributes: ResourceAttributes): Decision | undefined {
    const { verb, name, labelSelector = [] } = attributes;
    if ((verb === 'list' || verb === 'watch') && isOnly(labelSelector, DIRECTORY_NODE, node)) return ALLOW;
    if (verb !== 'get' && verb !== 'update' && verb !== 'patch') return undefined;
    const volume = this.#read(PersistentVolume, '', name);
    return volume && nodeDirectory(volume)?.node === node ? ALLOW : undefined;
  }

  /** An object that says in its spec which node it is for. */
  #own(node: string, kind: Kind<WithNode>, { namespace, name }: ResourceAttributes): Decision {
    if (name === '') return not('No Object name found');
    return this.#read(kind, namespace, name)?.spec?.nodeName === node ? ALLOW : unrelated(node);
  }

  #account(node: string, attributes: ResourceAttributes): Decision {
    const { verb, subresource, name } = attributes;
    if (verb === 'get' && subresource === '') {
      return reading(attributes) ?? this.#needed(node, 'serviceaccounts', attributes);
    }
    if (verb !== 'create' || name === '') return not('can only create tokens for individual service accounts');
    if (subresource !== 'token') return not('can only create token subresource of serviceaccount');
    return this.#needed(node, 'serviceaccounts', attributes);
  }

  #slice(node: string, attributes: ResourceAttributes): Decision {
    const { verb, subresource } = attributes;
    if (subresource !== '') return not('cannot authorize ResourceSlice subresources');
    switch (verb) {
      case 'create':
        return ALLOW;
      case 'get':
      case 'update':
      case 'patch':
      case 'delete':
        return this.#own(node, ResourceSlice, attributes);
      case 'list':
      case 'watch':
      case 'deletecollection':
        if (selectsNode(attributes, 'spec.nodeName', node)) return ALLOW;
        return not('can only list/watch/deletecollection resourceslices with nodeName field selector');
      default:
        return not(
          'only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection',
        );
    }
  }

  #pod(node: string, attributes: ResourceAttributes): Decision {
    const { verb, subresource } = attributes;
    switch (`${verb} ${subresource}`) {
      case 'get ':
        return this.#own(node, Pod, attributes);
      case 'list ':
      case 'watch ':
        if (selectsNode(attributes, 'spec.nodeName', node)) return ALLOW;
        if (attributes.name !== '') return this.#own(node, Pod, attributes);
        return not('can only list/watch pods with spec.nodeName field selector');
      case 'create ':
      case 'delete ':
      case 'update status':
      case 'patch status':
      case 'create eviction':
        // Which pods, is for node restriction to see.
        return ALLOW;
      default:
        return NO_OPINION;
    }
  }

  #read<T extends KubeObject>(kind: Kind<T>, namespace: string, name: string): T | undefined {
    return this.#cache.table(kind).get(namespace, name)?.hub(kind);
  }
}

function unrelated(node: string): Decision {
  return not(`no relationship found between node '${node}' and this object`);
}

/** Why it is no read of one object; undefined where it is one. */
function reading({ verb, subresource, namespace }: ResourceAttributes): Decision | undefined {
  if (verb !== 'get' && verb !== 'list' && verb !== 'watch') return not('can only read resources of this type');
  if (subresource !== '') return not('cannot read subresource');
  if (namespace === '') return not('can only read namespaced object of this type');
  return undefined;
}

function getting({ verb, subresource }: ResourceAttributes): Decision | undefined {
  if (verb !== 'get') return not('can only get individual resources of this type');
  return subresource === '' ? undefined : not('cannot get subresource');
}

function updatingStatus({ verb }: ResourceAttributes): Decision | undefined {
  return verb === 'update' || verb === 'patch' ? undefined : not('can only get/update/patch this type');
}

/** The name in a create is seen by node restriction: here there is none yet. */
function lease(node: string, { verb, namespace, name }: ResourceAttributes): Decision {
  if (!SAME_NAME_VERBS.includes(verb)) return not('can only get, create, update, patch, or delete a node lease');
  if (namespace !== NODE_LEASES) return not(`can only access leases in the "${NODE_LEASES}" system namespace`);
  if (verb === 'create' || name === node) return ALLOW;
  return not('can only access node lease with the same name as the requesting node');
}

function csiNode(node: string, { verb, subresource, name }: ResourceAttributes): Decision {
  if (!SAME_NAME_VERBS.includes(verb)) return not('can only get, create, update, patch, or delete a CSINode');
  if (subresource !== '') return not('cannot authorize CSINode subresources');
  if (verb === 'create' || name === node) return ALLOW;
  return not('can only access CSINode with the same name as the requesting node');
}

/** A node may look for itself before it is there. */
function itself(node: string, { verb, subresource, name }: ResourceAttributes): Decision {
  switch (`${verb} ${subresource}`) {
    case 'create ':
    case 'update ':
    case 'patch ':
    case 'update status':
    case 'patch status':
      return ALLOW;
    case 'get ':
    case 'list ':
    case 'watch ':
      if (name === node) return ALLOW;
      return not(`node '${node}' cannot read ${name === '' ? 'all nodes' : `'${name}'`}, only its own Node object`);
    default:
      return NO_OPINION;
  }
}

function selectsNode({ fieldSelector = [] }: ResourceAttributes, field: string, node: string): boolean {
  return isOnly(fieldSelector, field, node);
}

/** Whether a selector lets only objects through that have this value. */
function isOnly(selector: readonly SelectorRequirement[], name: string, value: string): boolean {
  return selector.some(
    ({ key, operator, values = [] }) => key === name && operator === 'In' && values.length === 1 && values[0] === value,
  );
}
