/**
 * Program that the tests run inside a network namespace: it serves, and sends requests to other peers, as it is told on
 * its standard input. Every line is a JSON object with an `id`; every answer carries the same one.
 */
import { createSocket } from 'node:dgram';
import { connect, createServer } from 'node:net';
import { createInterface } from 'node:readline';

const [name] = process.argv.slice(2);
const open = new Map();
const servers = new Map();

const calls = {
  /** Answers TCP connections and UDP packets with this peer's name and the address of the client; then echoes data. */
  async listen({ port, host = '::' }) {
    const tcp = createServer((socket) => {
      socket.on('error', () => {});
      socket.write(`${name} ${plain(socket.remoteAddress)}\n`);
      socket.on('data', (data) => socket.write(data));
    });
    tcp.listen(port, host);
    await once(tcp, 'listening');
    const udp = createSocket(host.includes(':') ? 'udp6' : 'udp4');
    udp.on('message', (_, from) => udp.send(`${name} ${plain(from.address)}\n`, from.port, from.address));
    udp.bind(tcp.address().port, host);
    await once(udp, 'listening');
    servers.set(tcp.address().port, [tcp, udp]);
    return tcp.address().port;
  },
  async unlisten({ port }) {
    for (const server of servers.get(port) ?? []) server.close();
  },
  async request({ protocol, address, port, timeout = 3000, localPort, localAddress }) {
    const from = { localPort, localAddress };
    const conversation = protocol === 'tcp' ? tcpTo(address, port, from) : await udpTo(address, port, from);
    try {
      return await conversation.line(timeout);
    } finally {
      conversation.close();
    }
  },
  /** Sends one UDP packet, also to a broadcast address. */
  async send({ address, port }) {
    const socket = createSocket('udp4');
    socket.bind();
    await once(socket, 'listening');
    socket.setBroadcast(true);
    await new Promise((resolve, reject) =>
      socket.send('!', port, address, (error) => (error ? reject(error) : resolve())),
    );
    socket.close();
  },
  /** Opens a conversation and keeps it. */
  async open({ key, protocol, address, port, timeout = 3000 }) {
    const conversation = protocol === 'tcp' ? tcpTo(address, port) : await udpTo(address, port);
    open.set(key, conversation);
    return conversation.line(timeout);
  },
  async say({ key, text, timeout = 3000 }) {
    const conversation = open.get(key);
    conversation.send(text);
    return conversation.line(timeout);
  },
  async close({ key }) {
    open.get(key).close();
    open.delete(key);
  },
};

function tcpTo(address, port, from = {}) {
  const socket = connect({ host: address, port, ...from });
  const lines = lineReader();
  socket.on('data', (data) => lines.push(String(data)));
  socket.on('error', (error) => lines.fail(error.code));
  socket.on('close', () => lines.fail('closed'));
  return { line: lines.next, send: (text) => socket.write(`${text}\n`), close: () => socket.destroy() };
}

/** Sends a request until there is an answer: packets may be lost. */
async function udpTo(address, port, { localPort = 0, localAddress } = {}) {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  const lines = lineReader();
  socket.bind(localPort, localAddress);
  await once(socket, 'listening');
  socket.connect(port, address);
  await once(socket, 'connect');
  socket.on('message', (data) => lines.push(String(data)));
  socket.on('error', (error) => lines.fail(error.code));
  const send = (text = '?') => socket.send(text);
  send();
  return { line: lines.next, send, close: () => socket.close() };
}

function lineReader() {
  let text = '';
  let failure;
  let wake = () => {};
  return {
    push(more) {
      text += more;
      wake();
    },
    fail(reason) {
      failure ??= reason;
      wake();
    },
    async next(timeout) {
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        wake();
      }, timeout);
      for (;;) {
        const end = text.indexOf('\n');
        if (end >= 0) {
          const line = text.slice(0, end);
          text = text.slice(end + 1);
          clearTimeout(timer);
          return line;
        }
        if (failure || isLate) {
          clearTimeout(timer);
          throw failure ?? 'timeout';
        }
        await new Promise((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

function once(emitter, event) {
  return new Promise((resolve, reject) => {
    emitter.once(event, resolve);
    emitter.once('error', reject);
  });
}

function plain(address) {
  return address.replace(/^::ffff:/, '');
}

createInterface({ input: process.stdin })
  .on('line', async (line) => {
    const { id, call, ...args } = JSON.parse(line);
    try {
      respond({ id, result: await calls[call](args) });
    } catch (error) {
      respond({ id, error: String(error?.code ?? error) });
    }
  })
  .on('close', () => process.exit());

function respond(message) {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}
