/** Single requests with the bench's token; the peer's certificate is not checked, because nothing but speed is. */
import { type Agent, request } from 'node:https';
import type { Target } from './load.ts';

/** The text of the answer. */
export function post(target: Target, path: string, body: string, agent: Agent): Promise<string> {
  return send(target, { method: 'POST', path, type: 'application/json', body }, agent);
}

/** Sends a merge patch. */
export function mergePatch(target: Target, path: string, body: string, agent: Agent): Promise<string> {
  return send(target, { method: 'PATCH', path, type: 'application/merge-patch+json', body }, agent);
}

export function remove(target: Target, path: string, agent: Agent): Promise<string> {
  return send(target, { method: 'DELETE', path, type: 'application/json', body: '' }, agent);
}

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly type: string;
  readonly body: string;
}

function send({ origin, token }: Target, { method, path, type, body }: Sent, agent: Agent): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': type };
    request(origin + path, { method, agent, headers }, (response) => {
      if ((response.statusCode ?? 0) > 399) reject(new Error(`${method} ${path} answered ${response.statusCode}`));
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
