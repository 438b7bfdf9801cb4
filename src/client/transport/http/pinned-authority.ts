/** Finds a cluster's certificate authority by the hash of its key. */
import { createHash, type X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import { connectionProblem } from '../../../base/sockets/connection-problem.ts';

/**
 * Returns the certificate (PEM) of the authority that the server presents and whose key has the hash (`sha256:…`).
 * Sends nothing; a client that then trusts only this authority is sure to reach the intended cluster. During a rotation
 * the authority is signed by its predecessor, so the client needs `allowPartialTrustChain`. Rejects when the server
 * presents no such authority.
 */
export function pinnedAuthority(server: string, hash: string, signal: AbortSignal): Promise<string> {
  const { hostname, port } = new URL(server);
  const host = hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port: Number(port || 443),
      servername: isIP(host) ? undefined : host,
      // The certificate is only inspected here; the client that connects with the result verifies it.
      rejectUnauthorized: false,
    });
    const abort = () => socket.destroy(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    socket.once('close', () => signal.removeEventListener('abort', abort));
    socket.once('error', (cause) =>
      reject(new Error(`cannot reach ${server}: ${connectionProblem(cause)}`, { cause })),
    );
    socket.once('secureConnect', () => {
      const found = authorityIn(socket.getPeerX509Certificate(), hash);
      socket.destroy();
      if (found) resolve(found.toString());
      else reject(new Error(`${server} shows no authority with the key ${hash}`));
    });
  });
}

function authorityIn(leaf: X509Certificate | undefined, hash: string): X509Certificate | undefined {
  for (let each = leaf?.issuerCertificate; each; each = each.issuerCertificate) {
    if (hasPinnedKey(each, hash)) return each;
  }
  return undefined;
}

/** Reports whether a certificate is that of the authority whose key has the hash. */
export function hasPinnedKey({ ca, publicKey }: X509Certificate, hash: string): boolean {
  const key = publicKey.export({ type: 'spki', format: 'der' });
  return ca && `sha256:${createHash('sha256').update(key).digest('hex')}` === hash.toLowerCase();
}
