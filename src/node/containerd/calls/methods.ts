/** The methods of CRI v1, and of containerd's own API, that the runtime calls. */
import { type Method, methodsOf } from '../../../protocols/grpc/call.ts';
import type { Message } from '../../../protocols/protobuf/message.ts';
import * as container from '../messages/container.ts';
import * as containerd from '../messages/containerd.ts';
import * as image from '../messages/image.ts';
import * as sandbox from '../messages/sandbox.ts';
import * as status from '../messages/status.ts';

const runtime = methodsOf('runtime.v1.RuntimeService');
const images = methodsOf('runtime.v1.ImageService');

export const cri = {
  version: runtime('Version', status.Empty, status.VersionResponse),
  status: runtime('Status', status.StatusRequest, status.StatusResponse),
  events: runtime('GetContainerEvents', status.Empty, status.ContainerEvent),
  usage: runtime('ListContainerStats', status.ListUsageRequest, status.ListUsageResponse),

  runSandbox: runtime('RunPodSandbox', sandbox.RunSandboxRequest, sandbox.SandboxId),
  stopSandbox: runtime('StopPodSandbox', sandbox.SandboxId, status.Empty),
  removeSandbox: runtime('RemovePodSandbox', sandbox.SandboxId, status.Empty),
  sandboxStatus: runtime('PodSandboxStatus', sandbox.SandboxStatusRequest, sandbox.SandboxStatusResponse),
  listSandboxes: runtime('ListPodSandbox', sandbox.ListSandboxesRequest, sandbox.ListSandboxesResponse),

  createContainer: runtime('CreateContainer', container.CreateContainerRequest, container.ContainerId),
  startContainer: runtime('StartContainer', container.ContainerId, status.Empty),
  stopContainer: runtime('StopContainer', container.StopContainerRequest, status.Empty),
  removeContainer: runtime('RemoveContainer', container.ContainerId, status.Empty),
  listContainers: runtime('ListContainers', container.ListContainersRequest, container.ListContainersResponse),
  containerStatus: runtime('ContainerStatus', container.ContainerId, container.ContainerStatusResponse),
  updateResources: runtime('UpdateContainerResources', container.UpdateResourcesRequest, status.Empty),
  reopenLog: runtime('ReopenContainerLog', container.ContainerId, status.Empty),
  execSync: runtime('ExecSync', container.ExecSyncRequest, container.ExecSyncResponse),
  exec: runtime('Exec', container.ExecRequestMessage, container.StreamUrl),
  attach: runtime('Attach', container.AttachRequestMessage, container.StreamUrl),
  portForward: runtime('PortForward', container.PortForwardRequest, container.StreamUrl),

  listImages: images('ListImages', status.Empty, image.ListImagesResponse),
  imageStatus: images('ImageStatus', image.ImageRequest, image.ImageStatusResponse),
  pullImage: images('PullImage', image.PullImageRequest, image.PullImageResponse),
  removeImage: images('RemoveImage', image.ImageRequest, status.Empty),
  imageUsage: images('ImageFsInfo', status.Empty, image.ImageFsInfoResponse),
};

/** The namespace in which CRI keeps its images and containers. */
const NAMESPACE = { 'containerd-namespace': 'k8s.io' };

const own =
  (service: string) =>
  <In, Out>(
    name: string,
    request: Pick<Message<In, unknown>, 'encode'>,
    response: Pick<Message<never, Out>, 'decode'>,
  ): Method<In, Out> => ({
    ...methodsOf(`containerd.services.${service}`)(name, request, response),
    metadata: NAMESPACE,
  });

export const containerdApi = {
  writeContent: own('content.v1.Content')('Write', containerd.WriteRequest, containerd.WriteResponse),
  contentInfo: own('content.v1.Content')('Info', containerd.ContentRequest, containerd.ContentResponse),
  updateContent: own('content.v1.Content')('Update', containerd.UpdateContentRequest, containerd.ContentResponse),
  createImage: own('images.v1.Images')('Create', containerd.NamedImageRequest, status.Empty),
  updateImage: own('images.v1.Images')('Update', containerd.NamedImageRequest, status.Empty),
  statSnapshot: own('snapshots.v1.Snapshots')('Stat', containerd.SnapshotRequest, status.Empty),
  prepareSnapshot: own('snapshots.v1.Snapshots')(
    'Prepare',
    containerd.PrepareSnapshotRequest,
    containerd.PrepareSnapshotResponse,
  ),
  commitSnapshot: own('snapshots.v1.Snapshots')('Commit', containerd.CommitSnapshotRequest, status.Empty),
  applyDiff: own('diff.v1.Diff')('Apply', containerd.ApplyDiffRequest, status.Empty),
  createLease: own('leases.v1.Leases')('Create', containerd.Lease, status.Empty),
  deleteLease: own('leases.v1.Leases')('Delete', containerd.Lease, status.Empty),
  events: own('events.v1.Events')('Subscribe', containerd.SubscribeRequest, containerd.EventEnvelope),
};

/** Returns the method with results that belong to a lease, so that they are not collected as garbage before it ends. */
export function underLease<In, Out>(plain: Method<In, Out>, lease: string): Method<In, Out> {
  return { ...plain, metadata: { ...plain.metadata, 'containerd-lease': lease } };
}
