/** Sockets and ports of the node that are not for pods. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { expect } from 'vitest';
import { attack, hostUsers, type Lab, promised, start, volume } from '../lab.ts';

const ANSWER = 'answer of the node';

/** Connects to an address in hexadecimal digits for each further argument, sends that, and prints one line of what comes back. */
const CLIENT = `
my ($family, $address, @messages) = @ARGV;
$SIG{ALRM} = sub { print "timeout\\n"; exit };
alarm 10;
for my $message (@messages) {
  socket(my $s, $family, 1, 0) or die "$!";
  connect($s, pack('H*', $address)) or do { print "rejected\\n"; next };
  syswrite($s, $message);
  my $answer = '';
  while (sysread($s, my $part, 4096)) { $answer .= $part; last if $part =~ /\\n/ }
  chomp $answer;
  print "connected $answer\\n";
}
`;
const UNIX = '1';
const INTERNET = '2';

const unixAddress = (path: string) => {
  const family = Buffer.alloc(2);
  family.writeUInt16LE(Number(UNIX));
  return Buffer.concat([family, Buffer.from(path)]).toString('hex');
};
const internetAddress = (address: string, port: number) => {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt16LE(Number(INTERNET));
  bytes.writeUInt16BE(port, 2);
  Buffer.from(address.split('.').map(Number)).copy(bytes, 4);
  return bytes.toString('hex');
};

/** The name of an abstract socket as the kernel has it: some releases of Node append zero bytes. It shows them as `@`. */
function boundName(name: string): string {
  const found = readFileSync('/proc/net/unix', 'utf8')
    .split('\n')
    .find((line) => line.includes(`@${name}`));
  return found!.slice(found!.indexOf('@')).replaceAll('@', '\0');
}

async function withServer(listen: (server: Server) => void, use: (server: Server) => Promise<void>): Promise<void> {
  const server = createServer((socket) => socket.on('error', () => undefined).end(`${ANSWER}\n`));
  listen(server);
  await once(server, 'listening');
  try {
    await use(server);
  } finally {
    server.close();
  }
}

type Sandbox = ReturnType<typeof hostUsers>;

async function connect(lab: Lab, args: readonly string[], changes: object = {}, sandbox?: Sandbox): Promise<string> {
  const container = await start(lab, { command: ['perl', '-e', CLIENT, ...args], ...changes }, sandbox);
  return (await container.output()).trim();
}

/** A pod on the network of the node. */
const onNode = (lab: Lab) => hostUsers(lab, { network: 'node' });

export function describeSockets(lab: Lab): void {
  promised(lab, 'pod network')('in the abstract namespace of the node are out of reach', async () => {
    const name = `qd-isolation-${process.pid}`;
    await withServer(
      (server) => server.listen(`\0${name}`),
      async () => {
        const target = [UNIX, unixAddress(boundName(name)), ''];
        expect(await connect(lab, target)).toBe('rejected');
        expect(await connect(lab, target, {}, onNode(lab))).toContain(ANSWER);
      },
    );
  });

  promised(lab, 'pod network')('on the loopback address of the node are out of reach', async () => {
    await withServer(
      (server) => server.listen(0, '127.0.0.1'),
      async (server) => {
        const { port } = server.address() as { port: number };
        const target = [INTERNET, internetAddress('127.0.0.1', port), ''];
        expect(await connect(lab, target)).toBe('rejected');
        expect(await connect(lab, target, {}, onNode(lab))).toContain(ANSWER);
      },
    );
  });

  promised(
    lab,
    'containers',
    'keeper',
  )('of the keeper answer nobody without the key', async () => {
    const directory = lab.world().path('runtime');
    const key = readFileSync(join(directory, 'keeper.key'), 'utf8');
    const mounts = [volume(join(directory, 'keeper.sock'), '/keeper.sock')];
    const call = `${JSON.stringify({ id: 1, method: 'facts', params: {} })}\n`;
    const wrong = [undefined, '', 'x'.repeat(key.length), key.slice(0, -1), `${key}0`, [key], { length: key.length }];
    const messages = [...wrong, key].map((shown) => `${JSON.stringify({ type: 'control', key: shown })}\n${call}`);
    const target = [UNIX, unixAddress('/keeper.sock'), ...messages];
    const answers = (await connect(lab, target, { mounts }, hostUsers(lab))).split('\n').map((line) => line.trim());
    expect(answers.slice(0, -1)).toEqual(wrong.map(() => 'connected'));
    expect(answers.at(-1)).toContain('"protocol"');
    // Root of a user namespace may not even connect.
    if (lab.unpromised['user namespaces'] === undefined) {
      expect(new Set((await connect(lab, target, { mounts })).split('\n'))).toEqual(new Set(['rejected']));
    }
  });

  promised(
    lab,
    'another user',
    'keeper',
  )('of the keeper cannot be found, nor its key be read', async () => {
    const directory = lab.world().path('runtime');
    const container = await attack(lab, `cat ${directory}/keeper.key; ls ${directory}; echo end`);
    expect(await container.output()).toBe('end');
  });
}
