import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { silent } from '../../../base/log.ts';
import { ControlledClock } from '../../../base/time/clock.ts';
import { framed, MessageFrames } from '../../../protocols/dns-message/frames.ts';
import { listenTcp } from './tcp.ts';

const QUERIES = 200;
const MS_PER_RESPONSE = 4;

it('divides the responses to many queries of one segment into turns of the event loop', async () => {
  let spent = 0;
  const clock = Object.assign(new ControlledClock(), { monotonic: () => spent });
  let turn = 0;
  const count = () => {
    turn++;
    counter = setImmediate(count);
  };
  let counter = setImmediate(count);
  const perTurn = new Map<number, number>();
  const resolver = {
    respond(message: Buffer) {
      spent += MS_PER_RESPONSE;
      perTurn.set(turn, (perTurn.get(turn) ?? 0) + 1);
      return Buffer.concat([message, Buffer.alloc(20)]);
    },
  };
  const server = await listenTcp({ on: { address: '127.0.0.1', port: 0 }, log: silent, clock, resolver });
  const client = connect(server.port, '127.0.0.1');
  try {
    const messages = Array.from({ length: QUERIES }, (_, number) => Buffer.from(`query ${number}`.padEnd(20)));
    client.write(Buffer.concat(messages.map(framed)));
    const frames = new MessageFrames();
    const answers: string[] = [];
    while (answers.length < QUERIES) {
      const [data] = (await once(client, 'data')) as [Buffer];
      answers.push(...frames.push(data).map((each) => each.toString('utf8', 0, 20).trim()));
    }
    expect(answers).toEqual(messages.map((each) => each.toString().trim()));
    // Ten milliseconds each.
    expect(Math.max(...perTurn.values())).toBeLessThanOrEqual(4);
  } finally {
    clearImmediate(counter);
    client.destroy();
    await server.close();
  }
});
