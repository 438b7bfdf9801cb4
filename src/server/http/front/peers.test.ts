import { expect, it } from 'vitest';
import { Peers } from './peers.ts';
import type { FrontWord } from './protocol.ts';

const peer = { address: '::1', certificate: undefined, isUnsecured: false };

function world() {
  const said: string[] = [];
  let last = 0;
  const peers = new Peers(
    (word: FrontWord) => said.push(word.slice(0, 2).join(' ')),
    () => ++last,
  );
  const tell = () => {
    said.push(`request of ${peers.numberOf(peer)}`);
    peers.told(peer);
  };
  return { said, peers, tell };
}

it('are told of once, before their first request, and forgotten when they leave', () => {
  const { said, peers, tell } = world();
  tell();
  tell();
  peers.left(peer);
  expect(said).toEqual(['connection 1', 'request of 1', 'request of 1', 'disconnected 1']);
});

it('are told of again with a request that outlived them, and not kept', () => {
  const { said, peers, tell } = world();
  tell();
  peers.left(peer);
  tell();
  expect(said.slice(3)).toEqual(['connection 2', 'request of 2', 'disconnected 2']);
});

it('are not kept when they left before their first request was told of', () => {
  const { said, peers, tell } = world();
  peers.left(peer);
  tell();
  expect(said).toEqual(['connection 1', 'request of 1', 'disconnected 1']);
});
