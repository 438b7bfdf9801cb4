/** Splits a connection's data into lines of JSON. A connection that sends a line that is not JSON is closed. */
import type { Socket } from 'node:net';

/** Limit before the peer has shown a key. */
const MAX_FIRST_LINE_BYTES = 64 * 1024;

/** Calls the listener with each line. */
export function onLines(socket: Socket, listener: (value: unknown) => void): void {
  const parts: string[] = [];
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    let start = 0;
    for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', start)) {
      parts.push(chunk.slice(start, end));
      const value = parse(parts.join(''));
      parts.length = 0;
      start = end + 1;
      if (value === undefined || socket.destroyed) {
        socket.destroy();
        return;
      }
      listener(value);
    }
    if (start < chunk.length) parts.push(chunk.slice(start));
  });
}

/** Reads the first line, and leaves the rest in the socket. */
export function firstLine(socket: Socket, listener: (value: unknown) => void): void {
  let head = Buffer.alloc(0);
  const onReadable = () => {
    for (;;) {
      const chunk: Buffer | null = socket.read();
      if (chunk === null) return;
      const end = chunk.indexOf(10);
      head = Buffer.concat([head, end === -1 ? chunk : chunk.subarray(0, end)]);
      if (head.length > MAX_FIRST_LINE_BYTES) {
        socket.destroy();
        return;
      }
      if (end === -1) continue;
      socket.off('readable', onReadable);
      const rest = chunk.subarray(end + 1);
      if (rest.length > 0) socket.unshift(rest);
      const value = parse(head.toString());
      if (value === undefined) socket.destroy();
      else listener(value);
      return;
    }
  };
  socket.on('readable', onReadable);
}

/** Returns undefined for text that is not a JSON object. */
function parse(line: string): object | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
