/** What is known about one container. */
import { s } from '../../../schema/builders.ts';
import type { TypeOf } from '../../../schema/schema.ts';
import { ResourceList, ResourceRequirements } from './resources.ts';

const ContainerState = s.object('ContainerState', {
  waiting: s.object('ContainerStateWaiting', {
    reason: s.string({ omitZero: true }),
    message: s.string({ omitZero: true }),
  }),
  running: s.object('ContainerStateRunning', { startedAt: s.time() }),
  terminated: s.object('ContainerStateTerminated', {
    exitCode: s.int32({ zero: true }),
    signal: s.int32(),
    reason: s.string({ omitZero: true }),
    message: s.string({ omitZero: true }),
    startedAt: s.time(),
    finishedAt: s.time(),
    containerID: s.string({ omitZero: true }),
  }),
});

const VolumeMountStatus = s.object('VolumeMountStatus', {
  name: s.string({ zero: true }),
  mountPath: s.string({ zero: true }),
  readOnly: s.boolean(),
  recursiveReadOnly: s.string(),
  volumeStatus: s.object('VolumeStatus', {
    image: s.object('ImageVolumeStatus', { imageRef: s.string({ zero: true }) }),
  }),
});

const ResourceStatus = s.object('ResourceStatus', {
  name: s.string({ zero: true }),
  resources: s.listMap(
    s.object('ResourceHealth', {
      resourceID: s.string({ zero: true }),
      health: s.string({ omitZero: true }),
      message: s.string(),
    }),
    { keys: ['resourceID'], merge: undefined },
  ),
});

const ContainerUser = s.object('ContainerUser', {
  linux: s.object('LinuxContainerUser', {
    uid: s.int64({ zero: true }),
    gid: s.int64({ zero: true }),
    supplementalGroups: s.list(s.int64()),
  }),
});

export const ContainerStatus = s.object('ContainerStatus', {
  name: s.string({ zero: true, description: 'The name of the container, a DNS label.' }),
  state: s.use(ContainerState, { default: {}, description: 'What the container does now.' }),
  lastState: s.use(ContainerState, { default: {}, description: 'How it ended the last time.' }),
  ready: s.boolean({ zero: true, description: 'Whether the container passed its readiness probe.' }),
  restartCount: s.int32({ zero: true, description: 'How often it was restarted; the count stops at five.' }),
  image: s.string({ zero: true, description: 'The image it runs.' }),
  imageID: s.string({ zero: true, description: 'Tells exactly which image that is.' }),
  containerID: s.string({ omitZero: true, description: 'Its id in the runtime, as <runtime>://<id>.' }),
  started: s.boolean(),
  allocatedResources: ResourceList,
  resources: ResourceRequirements,
  volumeMounts: s.listMap(VolumeMountStatus, { keys: ['mountPath'] }),
  user: ContainerUser,
  allocatedResourcesStatus: s.listMap(ResourceStatus, { keys: ['name'] }),
  stopSignal: s.string(),
});
export type ContainerStatus = TypeOf<typeof ContainerStatus>;
