/** The methods of CRI v1 that the runtime calls. */
import type { Method } from '../../base/grpc/call.ts';
import type { Message } from '../../base/protobuf/message.ts';
import * as container from './messages/container.ts';
import * as image from './messages/image.ts';
import * as sandbox from './messages/sandbox.ts';
import * as status from './messages/status.ts';

const method =
  (service: string) =>
  <In, Out>(
    name: string,
    request: Pick<Message<In, unknown>, 'encode'>,
    response: Pick<Message<never, Out>, 'decode'>,
  ): Method<In, Out> => ({ path: `/${service}/${name}`, encode: request.encode, decode: response.decode });

const runtime = method('runtime.v1.RuntimeService');
const images = method('runtime.v1.ImageService');

export const cri = {
  version: runtime('Version', status.Empty, status.VersionResponse),
  status: runtime('Status', status.StatusRequest, status.StatusResponse),
  events: runtime('GetContainerEvents', status.Empty, status.ContainerEvent),
  usage: runtime('ListContainerStats', status.ListUsageRequest, status.ListUsageResponse),

  runSandbox: runtime('RunPodSandbox', sandbox.RunSandboxRequest, sandbox.SandboxId),
  stopSandbox: runtime('StopPodSandbox', sandbox.SandboxId, status.Empty),
  removeSandbox: runtime('RemovePodSandbox', sandbox.SandboxId, status.Empty),
  sandboxStatus: runtime('PodSandboxStatus', sandbox.SandboxId, sandbox.SandboxStatusResponse),
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
