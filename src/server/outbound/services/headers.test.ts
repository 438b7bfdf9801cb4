import { expect, it } from 'vitest';
import { forwardedHeaders, forwardedResponse } from './headers.ts';

it('forwards headers of the message, without users, credentials and headers of the connection', () => {
  const kept = { accept: 'application/json', 'x-remote': 'a word of its own', cookie: 'a=b' };
  const dropped = {
    ...{ authorization: 'Bearer x', connection: 'keep-alive, X-Hop', 'x-hop': '1', 'transfer-encoding': 'chunked' },
    ...{ ':path': '/', 'x-remote-user': 'a', 'x-remote-extra-scopes': 'a', x_remote_user: 'a', 'x-remote_group': 'a' },
    ...{ 'impersonate-user': 'a', 'impersonate-extra-scopes': 'a' },
  };
  expect(forwardedHeaders({ ...kept, ...dropped })).toEqual(kept);
});

it('removes a bearer token from the protocols of a WebSocket', () => {
  const token = 'base64url.bearer.authorization.k8s.io.YQ';
  const protocols = (offered: string) => forwardedHeaders({ 'sec-websocket-protocol': offered });
  expect(protocols(`a, ${token},b`)).toEqual({ 'sec-websocket-protocol': 'a, b' });
  expect(protocols(token)).toEqual({});
});

it('returns headers of the message, and those of a switched protocol', () => {
  const headers = ['Content-Length', '1', 'Connection', 'Upgrade', 'Upgrade', 'x', 'Keep-Alive', '5', 'X-Own', 'yes'];
  expect(forwardedResponse(headers, false)).toEqual(['Content-Length', '1', 'X-Own', 'yes']);
  expect(forwardedResponse(headers, true)).toEqual([...headers.slice(0, 6), 'X-Own', 'yes']);
});
