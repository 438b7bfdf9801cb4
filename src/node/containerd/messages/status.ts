/** Messages about the runtime itself: version, conditions, features, events and usage. */
import {
  field,
  flag,
  integer,
  list,
  message,
  oneOf,
  optionalInteger,
  text,
  texts,
} from '../../../protocols/protobuf/message.ts';
import { FilesystemUsage } from './image.ts';
import { SandboxStatus } from './sandbox.ts';

export const Empty = message({});

export const VersionResponse = message({ runtimeName: field(2, text), runtimeVersion: field(3, text) });

export const StatusRequest = message({ verbose: field(1, flag) });
export const StatusResponse = message({
  status: field(
    1,
    message({
      conditions: field(
        1,
        list(
          message({ type: field(1, text), status: field(2, flag), reason: field(3, text), message: field(4, text) })
            .type,
        ),
      ),
    }).type,
  ),
  info: field(2, texts),
  handlers: field(
    3,
    list(
      message({
        name: field(1, text),
        features: field(2, message({ recursiveReadOnly: field(1, flag), userNamespaces: field(2, flag) }).type),
      }).type,
    ),
  ),
  features: field(4, message({ supplementalGroupsPolicy: field(1, flag) }).type),
});

export const ContainerEvent = message({
  containerId: field(1, text),
  type: field(2, oneOf(['created', 'started', 'stopped', 'deleted'])),
  sandbox: field(4, SandboxStatus.type),
});

const Usage = message({
  attributes: field(1, message({ id: field(1, text), labels: field(3, texts) }).type),
  cpu: field(2, message({ time: field(1, integer), nanoseconds: field(2, optionalInteger) }).type),
  memory: field(
    3,
    message({ time: field(1, integer), workingSet: field(2, optionalInteger), rss: field(5, optionalInteger) }).type,
  ),
  writable: field(4, FilesystemUsage.type),
});
export const ListUsageRequest = message({ filter: field(1, message({ labels: field(3, texts) }).type) });
export const ListUsageResponse = message({ stats: field(1, list(Usage.type)) });
