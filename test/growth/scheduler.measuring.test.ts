import { describe } from 'vitest';
import type { PodInfo } from '../../src/scheduler/cluster/pod-info.ts';
import type { Plugin } from '../../src/scheduler/framework/plugin.ts';
import { nodePorts } from '../../src/scheduler/plugins/nodes/node-ports.ts';
import { taintToleration } from '../../src/scheduler/plugins/nodes/taint-toleration.ts';
import { volumeBinding } from '../../src/scheduler/plugins/volumes/volume-binding.ts';
import { volumeRestrictions } from '../../src/scheduler/plugins/volumes/volume-restrictions.ts';
import { boundClaim, nodeObject, podObject, podOf, TestWorld } from '../support/scheduler/test-world.ts';
import { growsLinearly } from './growth.ts';

const listOf = <T>(length: number, of: (index: number) => T): T[] => Array.from({ length }, (_, index) => of(index));

/** Checks the pod against each node. */
const judge = (world: TestWorld, plugin: Plugin, pod: PodInfo) => () => world.verdicts(plugin, pod);

describe('the scheduler', () => {
  growsLinearly({
    'a pod with many tolerations and a node with many taints': [
      1000,
      (items) => {
        const taints = listOf(items, (at) => ({ key: `k${at}`, value: 'v', effect: 'NoSchedule' }));
        const tolerations = listOf(items, (at) => ({ key: `k${at}`, value: 'v' }));
        const world = new TestWorld([nodeObject('a', { spec: { taints } })]);
        return judge(world, taintToleration as Plugin, podOf({ spec: { tolerations } }));
      },
    ],
    'pods with many disks': [
      1000,
      (items) => {
        const disks = (prefix: string) => ({
          spec: {
            volumes: listOf(items, (at) => ({ name: `v${at}`, gcePersistentDisk: { pdName: `${prefix}${at}` } })),
          },
        });
        const world = new TestWorld([nodeObject('a')]);
        world.place('a', disks('a'));
        return judge(world, volumeRestrictions as Plugin, podOf(disks('b')));
      },
    ],
    'a pod with many claims': [
      500,
      (items) => {
        const volumes = listOf(items, (at) => ({ name: `v${at}`, persistentVolumeClaim: { claimName: `c${at}` } }));
        const world = new TestWorld([nodeObject('a')]);
        for (let at = 0; at < items; at++) world.claims.push(boundClaim(`c${at}`, `v${at}`));
        const pod = podOf({ spec: { volumes } });
        return () => volumeBinding.preFilter?.(pod, world as never);
      },
    ],
    'a deleted pod with many host ports, and one that waits for as many': [
      1000,
      (items) => {
        const port = (hostPort: number, at: number) => ({
          containerPort: at + 1,
          hostPort,
          hostIP: `10.0.0.${at & 255}`,
        });
        const ports = (from: number) => ({
          spec: { containers: [{ name: 'c', image: 'i', ports: listOf(items, (at) => port(from + at, at)) }] },
        });
        const object = podObject(ports(1));
        const waiting = podOf(ports(items + 1));
        return () => nodePorts.hints?.Pod?.({ resource: 'Pod', type: 'delete', object } as never, waiting, {} as never);
      },
    ],
  });
});
