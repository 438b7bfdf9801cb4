import type { ServerHttp2Session } from 'node:http2';

const PING_TIMEOUT_MS = 15_000;

/**
 * Closes an HTTP/2 session that had no traffic for `idleMs` milliseconds, or whose client no longer answers a PING.
 * Node stops reading a session whose client has violated the protocol without reporting it, so its streams would stay
 * open forever.
 */
export function closeWhenIdle(session: ServerHttp2Session, socket: { destroy(): unknown }, idleMs: number): void {
  let openStreams = 0;
  let isPinging = false;
  session.on('stream', (stream) => {
    openStreams++;
    stream.once('close', () => openStreams--);
  });
  session.on('timeout', () => {
    if (isPinging) {
      session.destroy();
      // A destroyed session first waits for its pending bytes to be sent, which may never happen.
      socket.destroy();
    } else if (openStreams === 0) session.close();
    else {
      isPinging = true;
      session.setTimeout(Math.min(idleMs, PING_TIMEOUT_MS));
      session.ping(() => {
        isPinging = false;
        if (!session.destroyed) session.setTimeout(idleMs);
      });
    }
  });
  session.setTimeout(idleMs);
}
