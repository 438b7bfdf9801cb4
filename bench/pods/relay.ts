/**
 * Runs a TLS server that only passes data on: a file (`file:PATH`) to everyone who connects, or a connection to an
 * address (`tcp:HOST:PORT`). Its arguments are the certificate, the key and the source; it prints its port.
 */
import { createReadStream, readFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { pipeline } from 'node:stream';
import { createServer, type TLSSocket } from 'node:tls';

const [certificate = '', key = '', source = ''] = process.argv.slice(2);
const [type, ...rest] = source.split(':');
const done = () => undefined;

function serve(client: TLSSocket): void {
  if (type === 'file') {
    // A client sends data when it begins to read, as with a request.
    client.once('data', () => pipeline(createReadStream(rest.join(':')), client, done));
    return;
  }
  const peer = connect({ host: rest[0]!, port: Number(rest[1]) });
  pipeline(client, peer, client, done);
}

const server = createServer({ cert: readFileSync(certificate), key: readFileSync(key) }, serve);
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
