import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { connect } from 'node:tls';
import type { Attack, AttackContext } from '../attack.ts';

const CONNECTIONS = 6;
const REQUESTS = 100_000;
const LASTING_MS = 8_000;

/** Requests written at once on connections whose client reads nothing. */
export const pipelining: Attack = {
  name: 'pipelining',
  async run(context) {
    await Promise.all(Array.from({ length: CONNECTIONS }, () => flood(context)));
  },
};

async function flood({ target }: AttackContext): Promise<void> {
  const { port, tokens } = target;
  const socket = connect({ port, host: '127.0.0.1', ca: await target.ca(), ALPNProtocols: ['http/1.1'] });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  socket.pause();
  const one = `GET /api/v1/namespaces HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${tokens.nobody}\r\n\r\n`;
  socket.write(one.repeat(REQUESTS));
  await wait(LASTING_MS);
  socket.destroy();
}
