/** Observed state of one container. */
import { s } from '../../../schema/builders.ts';
import type { TypeOf } from '../../../schema/schema.ts';
import { ResourceList, ResourceRequirements } from './resources.ts';

const ContainerState = s.object(
  'ContainerState',
  {
    waiting: s.object(
      'ContainerStateWaiting',
      {
        reason: s.string({
          omitZero: true,
          description: 'Why the container waits, in one CamelCase word, such as ImagePullBackOff.',
        }),
        message: s.string({ omitZero: true, description: 'Why the container waits, for people.' }),
      },
      {
        description:
          'The container has not started yet, because it waits for its image or for other containers, or is about ' +
          'to be restarted.',
      },
    ),
    running: s.object(
      'ContainerStateRunning',
      { startedAt: s.time({ description: 'Time at which the container was started.' }) },
      { description: 'The container is running.' },
    ),
    terminated: s.object(
      'ContainerStateTerminated',
      {
        exitCode: s.int32({
          zero: true,
          description: 'Exit code of the container; 128 plus the signal number if a signal ended it.',
        }),
        signal: s.int32({ description: 'Number of the signal that ended the container.' }),
        reason: s.string({
          omitZero: true,
          description: 'Why the container ended, in one CamelCase word, such as Completed, Error or OOMKilled.',
        }),
        message: s.string({ omitZero: true, description: 'Termination message of the container.' }),
        startedAt: s.time({ description: 'Time at which this run of the container started.' }),
        finishedAt: s.time({ description: 'Time at which the container exited.' }),
        containerID: s.string({ omitZero: true, description: 'ID of the container in the form <runtime>://<id>.' }),
      },
      { description: 'The container has exited.' },
    ),
  },
  { description: 'State of a container. At most one of its fields is set; an empty state means waiting.' },
);

const VolumeMountStatus = s.object(
  'VolumeMountStatus',
  {
    name: s.string({ zero: true, description: 'Name of the mount, as in volumeMounts.' }),
    mountPath: s.string({ zero: true, description: 'Path of the mount inside the container.' }),
    readOnly: s.boolean({ description: 'Whether the mount is read-only.' }),
    recursiveReadOnly: s.string({
      description: 'Whether nested mounts are read-only as well: Disabled or Enabled. Absent if the mount is writable.',
    }),
    volumeStatus: s.object(
      'VolumeStatus',
      {
        image: s.object(
          'ImageVolumeStatus',
          { imageRef: s.string({ zero: true, description: 'Digest of the image that is mounted.' }) },
          { description: 'Status of an image volume.' },
        ),
      },
      { description: 'Details that depend on the type of the volume.' },
    ),
  },
  { description: 'How a volume is mounted in the container.' },
);

const ResourceStatus = s.object(
  'ResourceStatus',
  {
    name: s.string({
      zero: true,
      description: 'Name of the resource, such as example.com/gpu, or claim:<claim>/<request> for a resource claim.',
    }),
    resources: s.listMap(
      s.object(
        'ResourceHealth',
        {
          resourceID: s.string({ zero: true, description: 'Identifier of the device, unique within its resource.' }),
          health: s.string({ omitZero: true, description: 'Healthy, Unhealthy or Unknown.' }),
          message: s.string({ description: 'Explanation of the health for people.' }),
        },
        { description: 'Health of one device.' },
      ),
      { keys: ['resourceID'], merge: undefined, description: 'Health of each allocated device.' },
    ),
  },
  { description: 'Health of the devices that were allocated to a container under one resource name.' },
);

const ContainerUser = s.object(
  'ContainerUser',
  {
    linux: s.object(
      'LinuxContainerUser',
      {
        uid: s.int64({ zero: true, description: 'User ID of the process.' }),
        gid: s.int64({ zero: true, description: 'Primary group ID of the process.' }),
        supplementalGroups: s.list(s.int64(), { description: 'Additional group IDs of the process.' }),
      },
      { description: 'User and groups of the first process of the container on Linux.' },
    ),
  },
  { description: 'User that the first process of the container runs as.' },
);

export const ContainerStatus = s.object(
  'ContainerStatus',
  {
    name: s.string({ zero: true, description: 'Name of the container in the spec.' }),
    state: s.use(ContainerState, { default: {}, description: 'Current state of the container.' }),
    lastState: s.use(ContainerState, {
      default: {},
      description: 'State in which the previous run of the container ended. Empty if it was never restarted.',
    }),
    ready: s.boolean({
      zero: true,
      description: 'Whether the container is running and passes its readiness probe, if it has one.',
    }),
    restartCount: s.int32({ zero: true, description: 'Number of restarts of the container. The count stops at five.' }),
    image: s.string({
      zero: true,
      description: 'Image that the container runs. It may differ in spelling from that of the spec.',
    }),
    imageID: s.string({ zero: true, description: 'Digest of the image that the container runs.' }),
    containerID: s.string({
      omitZero: true,
      description: 'ID of the container in the form <runtime>://<id>. Empty until it was created.',
    }),
    started: s.boolean({
      description: 'Whether the container is running and has passed its startup probe and its postStart hook.',
    }),
    allocatedResources: s.use(ResourceList, {
      description:
        'Resources that the node has admitted for the container. They may differ from the spec after a resize.',
    }),
    resources: s.use(ResourceRequirements, {
      description: 'Requests and limits that are in effect for the running container.',
    }),
    volumeMounts: s.listMap(VolumeMountStatus, {
      keys: ['mountPath'],
      description: 'Volumes as they are mounted in the container.',
    }),
    user: ContainerUser,
    allocatedResourcesStatus: s.listMap(ResourceStatus, {
      keys: ['name'],
      description: 'Health of the devices allocated to the container.',
    }),
    stopSignal: s.string({ description: 'Signal that stops the container.' }),
  },
  { description: 'Observed state of one container of a pod.' },
);
export type ContainerStatus = TypeOf<typeof ContainerStatus>;
