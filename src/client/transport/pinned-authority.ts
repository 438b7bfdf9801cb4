/** Finds a cluster's certificate authority by the hash of its key. */
import { createHash, type X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import { connectionProblem } from '../../base/connection-problem.ts';

/**
 * Returns the certificate (PEM) of the authority that the server presents and whose key has the hash (`sha256:…`). Nothing is
 * sent; a client that then trusts only this authority is sure to reach the intended cluster. While the authority is being
 * rotated its predecessor has signed it, so that the client needs `allowPartialTrustChain`. Rejects when the server presents
 * no such authority.
 */
export function pinnedAuthority(server: string, hash: string, signal: AbortSignal): Promise<string> {
  const { hostname, port } = new URL(server);
  const host = hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port: Number(port || 443),
      ...(isIP(host) ? {} : { servername: host }),
      // Only inspected here; the client that connects with the result verifies it.
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

/** Whether a certificate is that of the authority whose key has the hash. */
export function hasPinnedKey({ ca, publicKey }: X509Certificate, hash: string): boolean {
  const key = publicKey.export({ type: 'spki', format: 'der' });
  return ca && `sha256:${createHash('sha256').update(key).digest('hex')}` === hash.toLowerCase();
}
