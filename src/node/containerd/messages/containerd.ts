/** Messages of containerd's own API: content, images, snapshots, leases and events. */
import { bytes, field, integer, list, message, oneOf, text, texts } from '../../../protocols/protobuf/message.ts';

const writeAction = oneOf(['stat', 'write', 'commit']);

export const WriteRequest = message({
  action: field(1, writeAction),
  ref: field(2, text),
  total: field(3, integer),
  expected: field(4, text),
  offset: field(5, integer),
  data: field(6, bytes),
  labels: field(7, texts),
});
export const WriteResponse = message({
  action: field(1, writeAction),
  offset: field(4, integer),
  total: field(5, integer),
  digest: field(6, text),
});
/** Request for Info. */
export const ContentRequest = message({ digest: field(1, text) });
const ContentInfo = message({ digest: field(1, text), size: field(2, integer), labels: field(5, texts) });
export const ContentResponse = message({ info: field(1, ContentInfo.type) });
export const UpdateContentRequest = message({
  info: field(1, ContentInfo.type),
  mask: field(2, message({ paths: field(1, list(text)) }).type),
});

const Descriptor = message({ mediaType: field(1, text), digest: field(2, text), size: field(3, integer) });
const NamedImage = message({ name: field(1, text), labels: field(2, texts), target: field(3, Descriptor.type) });
/** Request for Create and Update. */
export const NamedImageRequest = message({ image: field(1, NamedImage.type) });

const Mount = message({
  type: field(1, text),
  source: field(2, text),
  target: field(3, text),
  options: field(4, list(text)),
});
/** Request for Stat. */
export const SnapshotRequest = message({ snapshotter: field(1, text), key: field(2, text) });
export const PrepareSnapshotRequest = message({
  snapshotter: field(1, text),
  key: field(2, text),
  parent: field(3, text),
});
export const PrepareSnapshotResponse = message({ mounts: field(1, list(Mount.type)) });
export const CommitSnapshotRequest = message({
  snapshotter: field(1, text),
  name: field(2, text),
  key: field(3, text),
});
export const ApplyDiffRequest = message({ diff: field(1, Descriptor.type), mounts: field(2, list(Mount.type)) });

export const Lease = message({ id: field(1, text), labels: field(3, texts) });

export const SubscribeRequest = message({ filters: field(1, list(text)) });
/** The event `/tasks/exit`. */
export const TaskExit = message({ containerId: field(1, text), id: field(2, text) });
export const EventEnvelope = message({
  topic: field(3, text),
  event: field(4, message({ value: field(2, bytes) }).type),
});
