import { beforeEach, describe, expect, it } from 'vitest';
import { PlannerWorld } from '../../../../test/support/planner-world.ts';
import { IPAddress } from '../../../kinds/groups/networking/ip-address.ts';
import { ServiceCIDR } from '../../../kinds/groups/networking/service-cidr.ts';
import { planServiceCidr } from './service-cidr.ts';

const FINALIZER = 'networking.k8s.io/service-cidr-finalizer';
const DELETED = '2030-01-01T00:00:00Z';
const at = (seconds: number) => new Date(Date.parse(DELETED) + seconds * 1000);
const LABELS = { 'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io' };

let world: PlannerWorld;

beforeEach(() => {
  world = new PlannerWorld();
});

const put = (name: string, cidrs: string[], metadata: object = {}) =>
  world.put(ServiceCIDR, { metadata: { name, ...metadata }, spec: { cidrs }, status: {} });
const putDeleted = (name: string, ...cidrs: string[]) =>
  put(name, cidrs, { deletionTimestamp: DELETED, finalizers: [FINALIZER] });
const take = (address: string, labels: object = LABELS) =>
  world.put(IPAddress, { metadata: { name: address, labels }, spec: { parentRef: {} } });
const get = (name: string) => world.of(ServiceCIDR).get(name);
const sync = (name: string, now = at(60)) => {
  const plan = planServiceCidr(get(name), world, now);
  world.apply(plan);
  return plan;
};

it('a new range gets a finalizer and is ready', () => {
  put('more', ['10.1.0.0/24'], { finalizers: ['example.com/other'] });
  sync('more', at(0));
  expect(get('more')).toMatchObject({
    metadata: { finalizers: ['example.com/other', FINALIZER] },
    status: {
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: '',
          message: 'Kubernetes Service CIDR is ready',
          lastTransitionTime: DELETED,
        },
      ],
    },
  });
  expect(sync('more')).toEqual([]);
});

describe('a range that is deleted', () => {
  it('goes when nobody can allocate from it any more', () => {
    putDeleted('more', '10.1.0.0/24');
    take('10.2.0.1');
    expect(sync('more', at(4))).toEqual([{ type: 'requeueAfter', milliseconds: 6000 }]);
    sync('more', at(10));
    expect(get('more').metadata.finalizers).toEqual([]);
  });

  it('stays while a service has an address of it', () => {
    putDeleted('more', '10.1.0.0/24');
    take('10.1.0.7');
    sync('more');
    expect(get('more')).toMatchObject({
      metadata: { finalizers: [FINALIZER] },
      status: {
        conditions: [
          {
            type: 'Ready',
            status: 'False',
            reason: 'Terminating',
            message:
              'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR',
          },
        ],
      },
    });
    expect(sync('more')).toEqual([]);
  });

  it.each([
    ['a larger range', ['10.0.0.0/8'], true],
    ['the same range', ['10.1.0.0/24'], true],
    ['a part with the address', ['10.1.0.0/28'], true],
    ['a part without it', ['10.1.0.128/28'], false],
  ])('is not needed for an address that is in %s, too', (_what, cidrs, isRemoved) => {
    putDeleted('more', '10.1.0.0/24');
    take('10.1.0.7');
    put('other', cidrs);
    sync('more');
    expect(get('more').metadata.finalizers).toEqual(isRemoved ? [] : [FINALIZER]);
  });

  it('is needed when the other range is deleted, too', () => {
    putDeleted('more', '10.1.0.0/24');
    putDeleted('other', '10.1.0.0/24');
    take('10.1.0.7');
    sync('more');
    sync('other');
    expect([get('more'), get('other')].map(({ metadata }) => metadata.finalizers)).toEqual([[FINALIZER], [FINALIZER]]);
  });

  it('is not held by an address that is not allocated to a service', () => {
    putDeleted('more', '10.1.0.0/24');
    take('10.1.0.7', {});
    sync('more');
    expect(get('more').metadata.finalizers).toEqual([]);
  });
});
