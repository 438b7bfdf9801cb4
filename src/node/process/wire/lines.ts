/** Splits what comes over a connection into lines of JSON. */
import type { Socket } from 'node:net';

/** Calls the listener with each line. */
export function onLines(socket: Socket, listener: (value: unknown) => void): void {
  const parts: string[] = [];
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    let start = 0;
    for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', start)) {
      parts.push(chunk.slice(start, end));
      const line = parts.join('');
      parts.length = 0;
      start = end + 1;
      listener(JSON.parse(line));
    }
    if (start < chunk.length) parts.push(chunk.slice(start));
  });
}

/** Reads the first line, and leaves what follows in the socket. */
export function firstLine(socket: Socket, listener: (value: unknown) => void): void {
  let head = Buffer.alloc(0);
  const onReadable = () => {
    for (;;) {
      const chunk: Buffer | null = socket.read();
      if (chunk === null) return;
      const end = chunk.indexOf(10);
      if (end === -1) {
        head = Buffer.concat([head, chunk]);
        continue;
      }
      socket.off('readable', onReadable);
      const rest = chunk.subarray(end + 1);
      if (rest.length > 0) socket.unshift(rest);
      listener(JSON.parse(Buffer.concat([head, chunk.subarray(0, end)]).toString()));
      return;
    }
  };
  socket.on('readable', onReadable);
}
