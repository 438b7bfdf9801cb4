import { expect, it } from 'vitest';
import { AnnouncedPeers } from './announced-peers.ts';
import type { FrontMessage } from './messages.ts';

const peer = { address: '::1', certificate: undefined, isUnsecured: false };

function setUp() {
  const sent: string[] = [];
  let last = 0;
  const peers = new AnnouncedPeers({
    send: (message: FrontMessage) => sent.push(message.slice(0, 2).join(' ')),
    withdraw: (id) => sent.push(`disconnected ${id}`),
    nextId: () => ++last,
  });
  const announce = () => {
    sent.push(`request of ${peers.idOf(peer)}`);
    peers.requestSent(peer);
  };
  return { sent, peers, announce };
}

it('a connection is announced once, before its first request, and withdrawn when it closes', () => {
  const { sent, peers, announce } = setUp();
  announce();
  announce();
  peers.disconnected(peer);
  expect(sent).toEqual(['connected 1', 'request of 1', 'request of 1', 'disconnected 1']);
});

it('a request that outlives its connection announces it again and withdraws it at once', () => {
  const { sent, peers, announce } = setUp();
  announce();
  peers.disconnected(peer);
  announce();
  expect(sent.slice(3)).toEqual(['connected 2', 'request of 2', 'disconnected 2']);
});

it('a connection that closes before its first request was sent is withdrawn after it', () => {
  const { sent, peers, announce } = setUp();
  peers.disconnected(peer);
  announce();
  expect(sent).toEqual(['connected 1', 'request of 1', 'disconnected 1']);
});
