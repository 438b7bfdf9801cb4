import type { ServerHttp2Session } from 'node:http2';

/** Milliseconds that a client has for saying that it is still there. */
const PATIENCE = 15_000;

/**
 * Ends a session of HTTP/2 that nobody has used for so many milliseconds, or whose client is there no more. Node stops
 * reading a session whose client has broken the protocol, and tells nobody: what was asked for on it would stay open for good.
 */
export function endWhenIdle(session: ServerHttp2Session, socket: { destroy(): unknown }, idle: number): void {
  let open = 0;
  let isAsked = false;
  session.on('stream', (stream) => {
    open++;
    stream.once('close', () => open--);
  });
  session.on('timeout', () => {
    if (isAsked) {
      session.destroy();
      // A session waits for its bytes to leave, and these never will.
      socket.destroy();
    } else if (open === 0) session.close();
    else {
      isAsked = true;
      session.setTimeout(Math.min(idle, PATIENCE));
      session.ping(() => {
        isAsked = false;
        if (!session.destroyed) session.setTimeout(idle);
      });
    }
  });
  session.setTimeout(idle);
}
