/** Streams of pods as a client sees them: how fast bytes arrive, and how long a command takes. */
import { randomBytes } from 'node:crypto';
import { connect, type TLSSocket } from 'node:tls';
import { WebSocket } from 'ws';
import type { Target } from '../load.ts';
import { PODS } from './pod-api.ts';

const TIMEOUT_MS = 60_000;
/** Channel for the exit status of a command. */
const STATUS_CHANNEL = 3;

/** A request whose response is a stream of bytes. */
export function streamRequest({ origin, token }: Target, path: string, isUpgrade: boolean): string {
  const upgrade = [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
    'Sec-WebSocket-Protocol: v4.channel.k8s.io',
  ];
  const headers = [`Host: ${new URL(origin).host}`, `Authorization: Bearer ${token}`, ...(isUpgrade ? upgrade : [])];
  return `GET ${path} HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`;
}

/** Sends a request and returns the rate at which so many bytes come back, in MB/s. Framing is too small to count. */
export async function receive(origin: string, request: string, bytes: number): Promise<number> {
  const { hostname, port } = new URL(origin);
  const began = performance.now();
  const socket: TLSSocket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false });
  try {
    await new Promise<void>((resolve, reject) => {
      let received = 0;
      let head = '';
      socket.setTimeout(TIMEOUT_MS, () => reject(new Error(`only ${received} of ${bytes} bytes came: ${head}`)));
      socket.once('secureConnect', () => socket.write(request));
      socket.on('data', (chunk: Buffer) => {
        if (received === 0) head = chunk.toString('latin1', 0, 300);
        received += chunk.length;
        if (received >= bytes) resolve();
      });
      socket.on('error', reject);
      socket.on('end', () => reject(new Error(`the stream ended after ${received} bytes: ${head}`)));
    });
    return bytes / 1e6 / ((performance.now() - began) / 1e3);
  } finally {
    socket.destroy();
  }
}

/** Milliseconds until a command in a pod has succeeded. */
export async function execute({ origin, token }: Target, pod: string, command: readonly string[]): Promise<number> {
  const query = command.map((word) => `command=${encodeURIComponent(word)}`).join('&');
  const began = performance.now();
  const headers = { authorization: `Bearer ${token}` };
  const url = `${origin.replace(/^https/, 'wss')}${PODS}/${pod}/exec?${query}&stdout=true`;
  const socket = new WebSocket(url, ['v4.channel.k8s.io'], { headers, rejectUnauthorized: false });
  try {
    await new Promise<void>((resolve, reject) => {
      socket.on('error', reject);
      socket.on('close', () => reject(new Error('the command ended without a status')));
      socket.on('message', (message: Buffer) => {
        if (message[0] !== STATUS_CHANNEL) return;
        const { status, message: why } = JSON.parse(message.toString('utf8', 1));
        if (status === 'Success') resolve();
        else reject(new Error(why));
      });
    });
    return performance.now() - began;
  } finally {
    socket.terminate();
  }
}
