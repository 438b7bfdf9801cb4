/** Contract of a connection to a port of a pod when one of its ends closes, whatever carries it. */
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';

/** Behaviour of a port of the pod towards every connection. */
export type PortBehaviour =
  /** Writes `bye` and closes, whatever the client does. */
  | 'closes'
  /** Reads to the end, and answers with the number of bytes. */
  | 'counts'
  /** Echoes its input, to the end. */
  | 'echoes'
  /** Reads nothing, and resets the connection a moment later. */
  | 'resets';

/** Opens a connection to a port that behaves like this. */
export type ConnectTo = (behaviour: PortBehaviour) => Promise<Duplex>;

const MANY_BYTES = 8 * 2 ** 20;
/** Number of bytes that exceeds all buffers on the way. */
const TOO_MANY_BYTES = 64 * 2 ** 20;

interface ConnectionLacks {
  /** Why the pod does not learn that only the client has closed. */
  readonly 'half-closed ports'?: string;
}

export function describeConnections(connectTo: ConnectTo, lacks: ConnectionLacks = {}): void {
  it('ends when the pod has closed it, with everything that the pod sent', async () => {
    const connection = await connectTo('closes');
    expect(await untilEnd(connection)).toBe('bye\n');
    connection.destroy();
  });

  it('closes when the pod and then the client have closed it', async () => {
    const connection = await connectTo('closes');
    const closed = once(connection, 'close');
    await untilEnd(connection);
    connection.end();
    await closed;
  });

  it.skipIf(lacks['half-closed ports'])('hands on the end of what the client sends, and the answer to it', async () => {
    const connection = await connectTo('counts');
    connection.end('four');
    expect((await untilEnd(connection)).trim()).toBe('4');
  });

  it.skipIf(lacks['half-closed ports'])('hands on an end without anything before it', async () => {
    const connection = await connectTo('counts');
    connection.end();
    expect((await untilEnd(connection)).trim()).toBe('0');
  });

  it('fails when the pod resets it', async () => {
    const connection = await connectTo('resets');
    const outcome = untilEnd(connection).catch((error: Error) => error);
    connection.write(Buffer.alloc(200_000));
    expect(await outcome).toBeInstanceOf(Error);
  });

  it('carries much in both directions', async () => {
    const connection = await connectTo('echoes');
    const sent = Buffer.alloc(MANY_BYTES, 'much of it ');
    connection.write(sent);
    const received: Buffer[] = [];
    let length = 0;
    await new Promise<void>((resolve, reject) => {
      connection.on('error', reject).on('data', (chunk: Buffer) => {
        received.push(chunk);
        length += chunk.length;
        if (length >= MANY_BYTES) resolve();
      });
    });
    expect(Buffer.concat(received).equals(sent)).toBe(true);
    connection.end();
  });

  it('takes no more than the pod reads', async () => {
    const connection = await connectTo('echoes');
    connection.on('error', () => undefined);
    let taken = 0;
    const part = Buffer.alloc(64 * 1024);
    // The answers are not read, so that the pod stops reading, and every buffer on the way is filled.
    for (let unchanged = 0; unchanged < 2000 && taken < TOO_MANY_BYTES; await nextTurn()) {
      unchanged = connection.writableNeedDrain ? unchanged + 1 : 0;
      if (connection.writableNeedDrain) continue;
      connection.write(part);
      taken += part.length;
    }
    expect(taken).toBeLessThan(TOO_MANY_BYTES);
    connection.destroy();
  });
}

/** Returns the received data. The other direction stays as it is. */
function untilEnd(connection: Duplex): Promise<string> {
  const chunks: Buffer[] = [];
  return new Promise((resolve, reject) => {
    connection.on('data', (chunk: Buffer) => chunks.push(chunk));
    connection.on('end', () => resolve(Buffer.concat(chunks).toString()));
    connection.on('error', reject);
    connection.on('close', () => reject(new Error('the connection was lost')));
  });
}
