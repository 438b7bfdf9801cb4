/** Observed state of one container. */
import { s } from '../../../schema/builders.ts';
import type { TypeOf } from '../../../schema/schema.ts';
import { ResourceList, ResourceRequirements } from './resources.ts';

const ContainerState = s.object(
  'ContainerState',
  'State of a container. At most one of its fields is set; an empty state means waiting.',
  {
    waiting: s.object(
      'ContainerStateWaiting',
      'The container has not started yet, because it waits for its image or for other containers, or is about ' +
        'to be restarted.',
      {
        reason: s.string('Why the container waits, in one CamelCase word, such as ImagePullBackOff.', {
          omitZero: true,
        }),
        message: s.string('Why the container waits, for people.', { omitZero: true }),
      },
    ),
    running: s.object('ContainerStateRunning', 'The container is running.', {
      startedAt: s.time('Time at which the container was started.'),
    }),
    terminated: s.object('ContainerStateTerminated', 'The container has exited.', {
      exitCode: s.int32('Exit code of the container; 128 plus the signal number if a signal ended it.', { zero: true }),
      signal: s.int32('Number of the signal that ended the container.'),
      reason: s.string('Why the container ended, in one CamelCase word, such as Completed, Error or OOMKilled.', {
        omitZero: true,
      }),
      message: s.string('Termination message of the container.', { omitZero: true }),
      startedAt: s.time('Time at which this run of the container started.'),
      finishedAt: s.time('Time at which the container exited.'),
      containerID: s.string('ID of the container in the form <runtime>://<id>.', { omitZero: true }),
    }),
  },
);

const VolumeMountStatus = s.object('VolumeMountStatus', 'How a volume is mounted in the container.', {
  name: s.string('Name of the mount, as in volumeMounts.', { zero: true }),
  mountPath: s.string('Path of the mount inside the container.', { zero: true }),
  readOnly: s.boolean('Whether the mount is read-only.'),
  recursiveReadOnly: s.string(
    'Whether nested mounts are read-only as well: Disabled or Enabled. Absent if the mount is writable.',
  ),
  volumeStatus: s.object('VolumeStatus', 'Details that depend on the type of the volume.', {
    image: s.object('ImageVolumeStatus', 'Status of an image volume.', {
      imageRef: s.string('Digest of the image that is mounted.', { zero: true }),
    }),
  }),
});

const ResourceStatus = s.object(
  'ResourceStatus',
  'Health of the devices that were allocated to a container under one resource name.',
  {
    name: s.string('Name of the resource, such as example.com/gpu, or claim:<claim>/<request> for a resource claim.', {
      zero: true,
    }),
    resources: s.listMap(
      s.object('ResourceHealth', 'Health of one device.', {
        resourceID: s.string('Identifier of the device, unique within its resource.', { zero: true }),
        health: s.string('Healthy, Unhealthy or Unknown.', { omitZero: true }),
        message: s.string('Explanation of the health for people.'),
      }),
      'Health of each allocated device.',
      { keys: ['resourceID'], merge: undefined },
    ),
  },
);

const ContainerUser = s.object('ContainerUser', 'User that the first process of the container runs as.', {
  linux: s.object('LinuxContainerUser', 'User and groups of the first process of the container on Linux.', {
    uid: s.int64('User ID of the process.', { zero: true }),
    gid: s.int64('Primary group ID of the process.', { zero: true }),
    supplementalGroups: s.list(s.int64(), 'Additional group IDs of the process.'),
  }),
});

export const ContainerStatus = s.object('ContainerStatus', 'Observed state of one container of a pod.', {
  name: s.string('Name of the container in the spec.', { zero: true }),
  state: s.use(ContainerState, 'Current state of the container.', { default: {} }),
  lastState: s.use(
    ContainerState,
    'State in which the previous run of the container ended. Empty if it was never restarted.',
    { default: {} },
  ),
  ready: s.boolean('Whether the container is running and passes its readiness probe, if it has one.', { zero: true }),
  restartCount: s.int32('Number of restarts of the container. The count stops at five.', { zero: true }),
  image: s.string('Image that the container runs. It may differ in spelling from that of the spec.', { zero: true }),
  imageID: s.string('Digest of the image that the container runs.', { zero: true }),
  containerID: s.string('ID of the container in the form <runtime>://<id>. Empty until it was created.', {
    omitZero: true,
  }),
  started: s.boolean('Whether the container is running and has passed its startup probe and its postStart hook.'),
  allocatedResources: s.use(
    ResourceList,
    'Resources that the node has admitted for the container. They may differ from the spec after a resize.',
  ),
  resources: s.use(ResourceRequirements, 'Requests and limits that are in effect for the running container.'),
  volumeMounts: s.listMap(VolumeMountStatus, 'Volumes as they are mounted in the container.', { keys: ['mountPath'] }),
  user: ContainerUser,
  allocatedResourcesStatus: s.listMap(ResourceStatus, 'Health of the devices allocated to the container.', {
    keys: ['name'],
  }),
  stopSignal: s.string('Signal that stops the container.'),
});
export type ContainerStatus = TypeOf<typeof ContainerStatus>;
