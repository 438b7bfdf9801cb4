/** Exec, attach and port-forward: CRI answers with the address of the runtime's streaming server. */
import type { Duplex } from 'node:stream';
import { openCommand } from '../../api/remote-command/command-client.ts';
import { openPort } from '../../api/remote-command/port-client.ts';
import type { ProcessStreams } from '../../base/programs/process-streams.ts';
import { RuntimeError } from '../runtime/errors.ts';
import type { AttachRequest, ExecRequest } from '../runtime/runtime.ts';
import type { Connection } from './calls/connection.ts';
import { cri } from './calls/methods.ts';

export async function execIn(connection: Connection, id: string, request: ExecRequest): Promise<ProcessStreams> {
  const streams = streamsOf(request);
  const { url } = await connection.call(cri.exec, { id, command: request.command, ...streams });
  return command(url, request);
}

export async function attachTo(connection: Connection, id: string, request: AttachRequest): Promise<ProcessStreams> {
  const { url } = await connection.call(cri.attach, { id, ...streamsOf(request) });
  return command(url, request);
}

export async function forwardTo(connection: Connection, sandboxId: string, port: number): Promise<Duplex> {
  const { url } = await connection.call(cri.portForward, { id: sandboxId, ports: [port] });
  return openPort({ url: new URL(url) }, port).catch(unavailable);
}

/** A terminal has one stream of output, and CRI refuses to be asked for another one. */
function streamsOf({ stdin, stdout, stderr, tty }: AttachRequest) {
  return { stdin, stdout, stderr: stderr && !tty, tty };
}

async function command(url: string, request: AttachRequest): Promise<ProcessStreams> {
  const streams = await openCommand({ url: new URL(url) }, streamsOf(request)).catch(unavailable);
  if (request.size) streams.resize(request.size);
  return streams;
}

function unavailable(error: unknown): never {
  const message = `the streaming server of the runtime rejected: ${(error as Error).message}`;
  throw new RuntimeError('Unavailable', message, { cause: error });
}
