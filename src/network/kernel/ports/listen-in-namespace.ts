/** Opens a listening socket in another network namespace. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Server } from 'node:net';

/** A socket belongs to the namespace of the process that opens it: this program opens one, hands it over and ends. */
const programFor = (port: number) => `
const server = require('node:net').createServer();
server.once('error', ({ code, message }) => process.send({ code, message }, () => process.exit()));
server.listen(${port}, () => process.send({}, server, () => process.exit()));
`;

interface Answer {
  readonly code?: string;
  readonly message?: string;
}

/** `enter`: the command that runs another one in the namespace. Rejects when the port cannot be listened on. */
export async function listenInNamespace(enter: readonly string[], port: number): Promise<Server> {
  const [program = '', ...parameters] = enter;
  const child = spawn(program, [...parameters, process.execPath, '-e', programFor(port)], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  // Not its exit: that may be seen before the message that it sent last is read.
  const ended = once(child, 'close').then(([code]) => {
    throw new Error(`the program that listens in the namespace ended with code ${code}`);
  });
  const answered = once(child, 'message') as Promise<[Answer, Server | undefined]>;
  ended.catch(() => undefined);
  const [{ code, message }, server] = await Promise.race([answered, ended]);
  if (!server) throw Object.assign(new Error(message), { code });
  return server;
}
