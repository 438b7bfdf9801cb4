/** The permissions of a node: to report on itself and its pods, and to read what those need. No opinion otherwise. */

import type { User } from '../../../../api/user.ts';
import { PersistentVolume } from '../../../../kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PersistentVolumeClaim } from '../../../../kinds/groups/core/persistent-volume/persistent-volume-claim.ts';
import { Pod } from '../../../../kinds/groups/core/pod/pod.ts';
import { ResourceSlice } from '../../../../kinds/groups/resource/resource-slice.ts';
import { VolumeAttachment } from '../../../../kinds/groups/storage/volume-attachment.ts';
import type { Kind, KubeObject } from '../../../../kinds/kind.ts';
import { NODE as DIRECTORY_NODE, nodeDirectory } from '../../../../kinds/volumes/node-directory.ts';
import type { Cache } from '../../../objects/cache/cache.ts';
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

const NODE_LEASE_NAMESPACE = 'kube-node-lease';
const SAME_NAME_VERBS = ['get', 'create', 'update', 'patch', 'delete'];

const noOpinion = (reason: string): Decision => ({ verdict: 'noOpinion', reason });

type WithNode = KubeObject & { readonly spec: { readonly nodeName?: string } };

export class NodeAuthorizer implements Authorizer {
  readonly #pods: NodePods;

  constructor(private readonly cache: Cache) {
    this.#pods = new NodePods(cache);
  }

  authorize(attributes: Attributes): Decision {
    const node = nodeOf(attributes.user);
    if (node === undefined) return NO_OPINION;
    if (node === '') return noOpinion(`unknown node for user ${JSON.stringify(attributes.user.name)}`);
    const decision = attributes.path === undefined ? this.#decideByObject(node, attributes) : undefined;
    if (decision) return decision;
    return systemRules.node?.some((rule) => ruleAllows(rule, attributes)) ? ALLOW : NO_OPINION;
  }

  rulesFor(user: User): Rules {
    if (nodeOf(user) === undefined) return NO_RULES;
    return { ...NO_RULES, incomplete: true, error: 'node authorizer does not support user rule resolution' };
  }

  /** Decides about resources that a node may access object by object; undefined for all others. */
  #decideByObject(node: string, attributes: ResourceAttributes): Decision | undefined {
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
        return ownNode(node, attributes);
      case 'pods':
        return this.#pod(node, attributes);
      default:
        return undefined;
    }
  }

  #needed(node: string, kind: ReferredKind, { namespace, name }: ResourceAttributes): Decision {
    if (name === '') return noOpinion('No Object name found');
    return this.#pods.needs(node, kind, { namespace, name }) ? ALLOW : unrelated(node);
  }

  /** Allows a node to read a secret that one of its pods, or one of their volumes, refers to. */
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

  /** Returns the volume of a claim. Both must name each other, since a claim alone could name any volume. */
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

  /** Allows the node to list volumes that are its directories, by label, and to report when their data is deleted. */
  #directory(node: string, attributes: ResourceAttributes): Decision | undefined {
    const { verb, name, labelSelector = [] } = attributes;
    if ((verb === 'list' || verb === 'watch') && isOnly(labelSelector, DIRECTORY_NODE, node)) return ALLOW;
    if (verb !== 'get' && verb !== 'update' && verb !== 'patch') return undefined;
    const volume = this.#read(PersistentVolume, '', name);
    return volume && nodeDirectory(volume)?.node === node ? ALLOW : undefined;
  }

  /** Allows access to an object whose spec names this node. */
  #own(node: string, kind: Kind<WithNode>, { namespace, name }: ResourceAttributes): Decision {
    if (name === '') return noOpinion('No Object name found');
    return this.#read(kind, namespace, name)?.spec?.nodeName === node ? ALLOW : unrelated(node);
  }

  #account(node: string, attributes: ResourceAttributes): Decision {
    const { verb, subresource, name } = attributes;
    if (verb === 'get' && subresource === '') {
      return reading(attributes) ?? this.#needed(node, 'serviceaccounts', attributes);
    }
    if (verb !== 'create' || name === '') return noOpinion('can only create tokens for individual service accounts');
    if (subresource !== 'token') return noOpinion('can only create token subresource of serviceaccount');
    return this.#needed(node, 'serviceaccounts', attributes);
  }

  #slice(node: string, attributes: ResourceAttributes): Decision {
    const { verb, subresource } = attributes;
    if (subresource !== '') return noOpinion('cannot authorize ResourceSlice subresources');
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
        return noOpinion('can only list/watch/deletecollection resourceslices with nodeName field selector');
      default:
        return noOpinion(
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
        return noOpinion('can only list/watch pods with spec.nodeName field selector');
      case 'create ':
      case 'delete ':
      case 'update status':
      case 'patch status':
      case 'create eviction':
        // NodeRestriction checks the pods themselves.
        return ALLOW;
      default:
        return NO_OPINION;
    }
  }

  #read<T extends KubeObject>(kind: Kind<T>, namespace: string, name: string): T | undefined {
    return this.cache.table(kind).get(namespace, name)?.hub(kind);
  }
}

function unrelated(node: string): Decision {
  return noOpinion(`no relationship found between node '${node}' and this object`);
}

/** Returns a decision if the request is not a read of a namespaced object; undefined if it is. */
function reading({ verb, subresource, namespace }: ResourceAttributes): Decision | undefined {
  if (verb !== 'get' && verb !== 'list' && verb !== 'watch') return noOpinion('can only read resources of this type');
  if (subresource !== '') return noOpinion('cannot read subresource');
  if (namespace === '') return noOpinion('can only read namespaced object of this type');
  return undefined;
}

function getting({ verb, subresource }: ResourceAttributes): Decision | undefined {
  if (verb !== 'get') return noOpinion('can only get individual resources of this type');
  return subresource === '' ? undefined : noOpinion('cannot get subresource');
}

function updatingStatus({ verb }: ResourceAttributes): Decision | undefined {
  return verb === 'update' || verb === 'patch' ? undefined : noOpinion('can only get/update/patch this type');
}

/** Allows access to the node's lease. A create has no name yet; NodeRestriction checks it. */
function lease(node: string, { verb, namespace, name }: ResourceAttributes): Decision {
  if (!SAME_NAME_VERBS.includes(verb)) return noOpinion('can only get, create, update, patch, or delete a node lease');
  if (namespace !== NODE_LEASE_NAMESPACE)
    return noOpinion(`can only access leases in the "${NODE_LEASE_NAMESPACE}" system namespace`);
  if (verb === 'create' || name === node) return ALLOW;
  return noOpinion('can only access node lease with the same name as the requesting node');
}

function csiNode(node: string, { verb, subresource, name }: ResourceAttributes): Decision {
  if (!SAME_NAME_VERBS.includes(verb)) return noOpinion('can only get, create, update, patch, or delete a CSINode');
  if (subresource !== '') return noOpinion('cannot authorize CSINode subresources');
  if (verb === 'create' || name === node) return ALLOW;
  return noOpinion('can only access CSINode with the same name as the requesting node');
}

/** Allows a node to read and write its own Node object, even before that exists. */
function ownNode(node: string, { verb, subresource, name }: ResourceAttributes): Decision {
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
      return noOpinion(
        `node '${node}' cannot read ${name === '' ? 'all nodes' : `'${name}'`}, only its own Node object`,
      );
    default:
      return NO_OPINION;
  }
}

function selectsNode({ fieldSelector = [] }: ResourceAttributes, field: string, node: string): boolean {
  return isOnly(fieldSelector, field, node);
}

/** Reports whether a selector matches only objects with this value. */
function isOnly(selector: readonly SelectorRequirement[], name: string, value: string): boolean {
  return selector.some(
    ({ key, operator, values = [] }) => key === name && operator === 'In' && values.length === 1 && values[0] === value,
  );
}
