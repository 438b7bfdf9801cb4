/** A kind that a FederatedType names: one that this program has, or one that only the members know. */

import type { DeepReadonly } from '../../../api/object-types.ts';
import { getPath, setPath } from '../../../base/json/tree.ts';
import { allKinds } from '../../../kinds/all.ts';
import type { FederatedType } from '../../../kinds/groups/federation/federated-type.ts';
import { defineKind, type Kind } from '../../../kinds/kind.ts';
import { s } from '../../../schema/builders.ts';
import { federationKinds } from '../../kinds.ts';
import { gatherStatus } from '../gather-status.ts';
import { REPLICA_PREFERENCES } from '../names.ts';
import { countIn, type FederatedKind } from './federated-kind.ts';

const NEEDED_VERBS = ['get', 'list', 'watch', 'create', 'update', 'delete'] as const;

/** Describes the kind. Throws an error that explains why it cannot be federated. */
export function namedKind({ metadata, spec }: DeepReadonly<FederatedType>): FederatedKind {
  const [plural = '', ...rest] = (metadata.name ?? '').split('.');
  const group = rest.join('.');
  const isIt = (kind: Kind) => kind.plural === plural && kind.group === group;
  if (federationKinds.some(isIt)) throw new Error(`${metadata.name} is federated already, without this object`);
  const kind = allKinds.find(isIt) ?? openKind(group, plural, spec);
  const missing = NEEDED_VERBS.filter((verb) => kind.verbs && !kind.verbs.includes(verb));
  if (missing.length > 0) throw new Error(`objects of ${metadata.name} cannot be propagated: no ${missing.join(', ')}`);
  const path = spec.replicasPath ?? kind.subresources?.scale?.replicas;
  return {
    kind,
    replicas: path ? replicasAt(path) : undefined,
    gather: kind.subresources?.status ? gatherStatus : undefined,
  };
}

/** The members validate its objects. */
function openKind(group: string, plural: string, { version, kind, scope }: DeepReadonly<FederatedType>['spec']): Kind {
  if (!version || !kind || group === '') {
    const name = group === '' ? plural : `${plural}.${group}`;
    throw new Error(
      `Quarterdeck has no kind ${name}: spec.version and spec.kind are required, and a group in the name`,
    );
  }
  return defineKind({
    kind,
    plural,
    scope,
    description: `A ${kind}, as the members of the federation know it.`,
    versions: { [`${group}/${version}`]: {} },
    fields: {
      spec: s.any('Desired state. Validated by the members.'),
      data: s.any('Content of kinds that have neither spec nor status. Validated by the members.'),
      status: s.any('Observed state, gathered from the members.'),
    },
    subresources: { status: true },
    generation: true,
  }) as Kind;
}

/** The federation decides which object it is, and the members its status. */
const UNDIVIDED = new Set(['apiVersion', 'kind', 'metadata', 'status', '__proto__', undefined]);

/** Divides the number at a path; objects in which it is missing have one replica. */
function replicasAt(named: string): NonNullable<FederatedKind['replicas']> {
  const parts = named.split('.').filter((part) => part !== '');
  if (UNDIVIDED.has(parts[0])) throw new Error(`spec.replicasPath ${named} names no field that can be divided`);
  const path = parts.join('.');
  return {
    annotation: REPLICA_PREFERENCES,
    of: (object) => countIn(getPath(object, path), 1),
    set(desired, replicas) {
      Object.assign(desired, setPath(desired, path, replicas));
    },
  };
}
