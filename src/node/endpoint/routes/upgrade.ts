/** `/upgrade`: a server replaces the program of the node with another release. */
import type { IncomingMessage } from 'node:http';
import { ApiError } from '../../../api/errors.ts';
import { answerUpgrade, MAX_PART_BYTES, type MachineReport, type UpgradePort } from '../../../api/machine-upgrade.ts';

/** A node in the process of a server. */
const WITH_SERVER: MachineReport = { version: '', accepts: 'with-server' };

/** `port` is undefined when the node is a part of another program. Rejects with an ApiError. */
export function upgradeAnswer(request: IncomingMessage, port: UpgradePort | undefined): Promise<object> {
  const { method = '', url = '' } = request;
  const [path = '', search = ''] = url.split('?', 2);
  const parsed = { method, path, query: new URLSearchParams(search), body: () => partOf(request) };
  return answerUpgrade(parsed, port ?? PART_OF_SERVER);
}

const PART_OF_SERVER: UpgradePort = {
  report: async () => WITH_SERVER,
  receive: async () => rejectPart(),
  start: async () => rejectPart(),
};

function rejectPart(): never {
  throw new ApiError('Conflict', 'this node runs in the process of a server: upgrade that');
}

async function partOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > MAX_PART_BYTES) {
      throw new ApiError('RequestEntityTooLarge', `a part of a package has at most ${MAX_PART_BYTES} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
