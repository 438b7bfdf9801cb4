/**
 * Deals a flow its hand of queues. Two flows seldom share their whole hand, so that a flow which fills its queues leaves
 * nearly every other flow one that is short.
 */
export function handOf(flow: string, queues: number, size: number): readonly number[] {
  let seed = hash(flow);
  const hand: number[] = [];
  // Cards that were dealt are left out by counting past them, in their order.
  for (let left = queues; hand.length < size && left > 0; left--) {
    let card = seed % left;
    seed = mix(Math.floor(seed / left) ^ seed);
    const dealt = [...hand].sort((a, b) => a - b);
    for (const before of dealt) if (before <= card) card++;
    hand.push(card);
  }
  return hand;
}

/** FNV-1a over the text's characters, in 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return mix(value);
}

/** Lets every bit decide about every other. */
function mix(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
