import { expect, it } from 'vitest';
import { podCgroupName } from './pod-cgroup-name.ts';

const podOf = (uid: string) => ({ namespace: 'default', name: 'web', uid });
const UID = 'a4c01f1e-8f0c-4b8f-a5a4-6a2b4c0d5e01';

it('the name of the cgroup of a pod is that of kubelet', () => {
  expect(podCgroupName({ pod: podOf(UID), attempt: 0 })).toBe(`pod${UID}`);
});

it('the name of the cgroup of a pod differs for each sandbox of the pod', () => {
  expect(podCgroupName({ pod: podOf(UID), attempt: 2 })).toBe(`pod${UID}-2`);
});

it('the name of the cgroup of a pod is one folder, whatever the UID of a static pod is', () => {
  expect(podCgroupName({ pod: podOf('/../../other'), attempt: 0 })).toBe('pod%2F..%2F..%2Fother');
});
