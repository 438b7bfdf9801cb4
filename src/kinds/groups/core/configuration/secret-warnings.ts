import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';

const BEGIN = /-----BEGIN [A-Z0-9 ]+-----/;

interface Secret {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
}

/** Warns of a certificate and a key that do not match. */
export function secretWarnings({ type, data = {} }: Secret): string[] {
  if (type !== 'kubernetes.io/tls') return [];
  const certificate = textOf(data['tls.crt']);
  const key = textOf(data['tls.key']);
  if (!BEGIN.test(certificate)) return ['tls: failed to find any PEM data in certificate input'];
  if (!BEGIN.test(key)) return ['tls: failed to find any PEM data in key input'];
  const [leaf, secret] = [certificateIn(certificate), keyIn(key)];
  if (!leaf) return ['x509: malformed certificate'];
  if (!secret) return ['tls: failed to parse private key'];
  return leaf.checkPrivateKey(secret) ? [] : ['tls: private key does not match public key'];
}

function textOf(base64: string | undefined): string {
  return Buffer.from(base64 ?? '', 'base64').toString('latin1');
}

function certificateIn(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

function keyIn(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}
