/** Single requests with the bench's token; the peer's certificate is not checked, because nothing but speed is. */
import { type Agent, request } from 'node:https';
import type { Target } from './load.ts';

/** The text of the answer. */
export function post({ origin, token }: Target, path: string, body: string, agent: Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    request(origin + path, { method: 'POST', agent, headers }, (response) => {
      if ((response.statusCode ?? 0) > 399) reject(new Error(`POST ${path} answered ${response.statusCode}`));
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve(Buffer.concat(chunks).toString()));
    })
      .on('error', reject)
      .end(body);
  });
}

export function get(
  { origin, token }: Target,
  path: string,
  agent: Agent,
  headers: Record<string, string> = {},
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    request(origin + path, { agent, headers: { ...headers, authorization: `Bearer ${token}` } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve(Buffer.concat(chunks)));
    })
      .on('error', reject)
      .end();
  });
}
