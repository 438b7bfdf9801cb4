import { setFlagsFromString } from 'node:v8';

/** Maximum growth of the heap beyond the objects in use before V8 collects garbage. */
const MAX_HEAP_GROWTH_PERCENT = 50;

/**
 * Limits the garbage that V8 keeps. By default its heap grows to as much as four times the objects in use, so that a burst of
 * large requests leaves hundreds of megabytes. A create takes no more processor time with the limit than without, but a start
 * does: there, everything that is read is kept.
 */
export function limitHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${MAX_HEAP_GROWTH_PERCENT}`);
}

/** V8's default. */
export function allowHeapGrowth(): void {
  setFlagsFromString('--heap-growing-percent=0');
}

/**
 * Keeps the heap of a program small that has little to do: objects are collected early instead of in bulk. A burst of work
 * would otherwise leave 32 MB for new objects alone, which V8 does not give back for minutes.
 */
export function keepHeapSmall(): void {
  limitHeapGrowth();
  setFlagsFromString('--semi-space-growth-factor=1');
}
