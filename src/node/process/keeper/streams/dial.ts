/** Connects to ports on the loopback address of pods. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { RuntimeError } from '../../../runtime/errors.ts';

/** A socket belongs to the network namespace of the process that opens it: this program connects one, hands it over and ends. */
const programFor = (port: number) => `
const { connect } = require('node:net');
const port = ${port};
const dial = (host, failed) => {
  const socket = connect({ host, port, allowHalfOpen: true });
  socket.once('error', failed);
  socket.once('connect', () => { socket.off('error', failed); socket.pause(); process.send({}, socket, { keepOpen: false }, () => process.exit()); });
};
dial('127.0.0.1', ({ message }) => dial('::1', () => process.send({ message }, () => process.exit())));
`;

/** `nsenter` enters the namespace `netns`; without one, the port is that of the node. Rejects with a RuntimeError. */
export async function dialLoopback(
  port: number,
  nsenter: string | undefined,
  netns: string | undefined,
): Promise<Socket> {
  if (netns === undefined || nsenter === undefined) return dialHere(port);
  const child = spawn(nsenter, [`--net=${netns}`, process.execPath, '-e', programFor(port)], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    env: {},
  });
  return handedOver(child, port);
}

async function handedOver(child: ChildProcess, port: number): Promise<Socket> {
  // Not its exit: that may be seen before the message that it sent last is read.
  const ended = once(child, 'close').then(() => [{ message: 'the connection could not be made' }, undefined] as const);
  const answered = once(child, 'message') as Promise<[{ message?: string }, Socket | undefined]>;
  const [{ message }, socket] = await Promise.race([answered, ended]);
  if (!socket) throw new RuntimeError('Unknown', `dial tcp4 127.0.0.1:${port}: ${message}`);
  socket.allowHalfOpen = true;
  return socket;
}

async function dialHere(port: number): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true });
  try {
    await once(socket, 'connect');
  } catch (error) {
    throw new RuntimeError('Unknown', `dial tcp4 127.0.0.1:${port}: ${(error as Error).message}`);
  }
  return socket;
}
