/** Finding the authority of a cluster of which only the hash of the authority's key is known. */
import { createHash, type X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { connect } from 'node:tls';

/**
 * The certificate, as PEM, of the authority that the server shows and whose key has the hash (`sha256:…`). Nothing is sent
 * before: whoever connects with it as the only authority speaks to the cluster that was meant. While an authority is being
 * rotated the one before it has signed it, so that the connection needs `allowPartialTrustChain`. Rejects when the server
 * shows no such authority.
 */
export function pinnedAuthority(server: string, hash: string, signal: AbortSignal): Promise<string> {
  const { hostname, port } = new URL(server);
  const host = hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port: Number(port || 443),
      ...(isIP(host) ? {} : { servername: host }),
      // What the server shows is looked at here, and verified by whoever connects with the result.
      rejectUnauthorized: false,
    });
    const abort = () => socket.destroy(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    socket.once('close', () => signal.removeEventListener('abort', abort));
    socket.once('error', reject);
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
    const key = each.publicKey.export({ type: 'spki', format: 'der' });
    if (each.ca && `sha256:${createHash('sha256').update(key).digest('hex')}` === hash.toLowerCase()) return each;
  }
  return undefined;
}
