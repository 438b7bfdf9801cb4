/** From here on, copying bytes for the thread that sends them would cost more than the sending. */
const LARGE = 128 * 1024;

/** Room for so many bytes: what is large lies where every thread can read it. */
export function memory(length: number): Buffer {
  return length < LARGE ? Buffer.allocUnsafe(length) : Buffer.from(new SharedArrayBuffer(length));
}
