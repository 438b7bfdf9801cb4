/** World with nodes for tests of plans, which are requested by key. */

import type { KindRef } from '../../src/api/object-types.ts';
import type { Plan } from '../../src/controllers/loop/plan.ts';
import { planKey } from '../../src/controllers/storage/node-directory/provisioner.ts';
import { Node } from '../../src/kinds/groups/core/node/node.ts';
import { PersistentVolume } from '../../src/kinds/groups/core/persistent-volume/persistent-volume.ts';
import { PlannerWorld } from './planner-world.ts';

export const OURS = 'quarterdeck.io/node-directory';
export const HELD = 'external-provisioner.volume.kubernetes.io/finalizer';
const NOW = new Date('2030-01-01T00:00:00Z');

export class World extends PlannerWorld {
  /** A new volume has a status, as with a server. */
  override put(kind: KindRef, object: object): any {
    return super.put(kind, kind === PersistentVolume ? { status: { phase: 'Pending' }, ...object } : object);
  }

  readonly node = (name: string, fields: object = {}) =>
    this.put(Node, {
      metadata: { name, labels: { 'kubernetes.io/hostname': `host-${name}` } },
      spec: {},
      status: { conditions: [{ type: 'Ready', status: 'True' }] },
      ...fields,
    });

  plan(key: string): Plan {
    const [first = '', second] = key.split('/');
    const name = second === undefined ? { namespace: undefined, name: first } : { namespace: first, name: second };
    return planKey({ key: name, of: this.of, observed: undefined }, { root: '/root/volumes', now: NOW });
  }

  readonly volume = (name: string) => this.of(PersistentVolume).get(name);
}

export const said = (plan: Plan) =>
  plan.flatMap((action: any) => (action.type === 'event' ? [`${action.reason}: ${action.message}`] : []));
