import type { Duplex } from 'node:stream';
import type { ProcessStreams } from '../../base/process-streams.ts';
import { RuntimeError } from '../runtime/errors.ts';
import type { AttachRequest, ExecRequest } from '../runtime/runtime.ts';
import type { Connection } from './connection.ts';

export async function execIn(_connection: Connection, _id: string, _request: ExecRequest): Promise<ProcessStreams> {
  throw new RuntimeError('Unsupported', 'exec is not supported yet');
}

export async function attachTo(_connection: Connection, _id: string, _request: AttachRequest): Promise<ProcessStreams> {
  throw new RuntimeError('Unsupported', 'attach is not supported yet');
}

export async function forwardTo(_connection: Connection, _sandboxId: string, _port: number): Promise<Duplex> {
  throw new RuntimeError('Unsupported', 'port-forward is not supported yet');
}
