/**
 * Deals a flow its hand of queues (shuffle sharding). Two flows seldom have the same hand, so a flow that fills its
 * queues leaves nearly every other flow a short one. A flow always gets the same hand.
 */
export function dealQueues(flow: string, queues: number, handSize: number): readonly number[] {
  let seed = hash(flow);
  const hand: number[] = [];
  // A card is an index among the remaining queues: counting past the dealt ones, in ascending order, gives the queue.
  for (let left = queues; hand.length < handSize && left > 0; left--) {
    let card = seed % left;
    seed = mix(Math.floor(seed / left) ^ seed);
    const dealt = [...hand].sort((a, b) => a - b);
    for (const before of dealt) if (before <= card) card++;
    hand.push(card);
  }
  return hand;
}

/** Hashes the text's characters with 32-bit FNV-1a, mixed. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return mix(value);
}

/** Mixes with the finalizer of MurmurHash3: every input bit affects every output bit. */
function mix(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
