/** Tests that integers that a number cannot hold exactly are rejected in every format of a body, and nowhere else. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock as clock } from '../../src/base/time/clock.ts';
import { allKinds } from '../../src/kinds/all.ts';
import { createServer, type Server } from '../../src/server/index.ts';
import type { HttpServer } from '../../src/server/serving/http/server.ts';
import { MemoryStore } from '../../src/store/memory/memory-store.ts';
import { startServer } from '../support/http-server.ts';
import { delimited, text, varint } from './protobuf-encoder.ts';

let core: Server;
let http: HttpServer;
let base: string;

beforeAll(async () => {
  core = await createServer({ kinds: allKinds, store: new MemoryStore({ clock }), clock, freeze: true });
  ({ server: http } = await startServer({ handle: core.handle, registry: core.registry }));
  base = `http://127.0.0.1:${(await http.listenInsecure(0, '127.0.0.1')).port}`;
});

afterAll(async () => {
  await http.close();
  core.close();
});

async function send(path: string, type: string, body: string | Buffer, method = 'POST') {
  const answer = await fetch(`${base}${path}`, { method, headers: { 'content-type': type }, body });
  const { code = answer.status, message = '', ...object } = (await answer.json()) as any;
  return { code, message, object };
}

const JOBS = '/apis/batch/v1/namespaces/default/jobs';
const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'a' }] } };
const json = (name: string, seconds: string) =>
  JSON.stringify({ metadata: { name }, spec: { activeDeadlineSeconds: 0, template } }).replace(
    '"activeDeadlineSeconds":0',
    `"activeDeadlineSeconds":${seconds}`,
  );

const fields = (...parts: Buffer[]) => Buffer.concat(parts);
/** Encodes as much of a Job as the decoder needs: spec is field 2, activeDeadlineSeconds field 3 of it. */
const protobuf = (seconds: bigint) => {
  const type = delimited(1, fields(text(1, 'batch/v1'), text(2, 'Job')));
  const spec = fields(varint(3n * 8n), varint(BigInt.asUintN(64, seconds)));
  return fields(Buffer.from('k8s\0'), type, delimited(2, fields(delimited(1, text(1, 'p')), delimited(2, spec))));
};

const REFUSAL =
  'Job in version "v1" cannot be handled as a Job: json: cannot unmarshal number into Go struct field JobSpec.spec.activeDeadlineSeconds of type int64: integers beyond 9007199254740991 cannot be stored exactly';

describe.each(['9007199254740993', '9223372036854775807', '-9223372036854775808'])('%s in an int64', (literal) => {
  it('is rejected in JSON', async () => {
    expect(await send(JOBS, 'application/json', json('a', literal))).toMatchObject({ code: 400, message: REFUSAL });
  });

  it('is rejected in YAML', async () => {
    expect(await send(JOBS, 'application/yaml', json('a', literal))).toMatchObject({ code: 400, message: REFUSAL });
  });

  it('is rejected in protobuf', async () => {
    const answer = await send(JOBS, 'application/vnd.kubernetes.protobuf', protobuf(BigInt(literal)));
    expect(answer).toMatchObject({ code: 400, message: REFUSAL });
  });

  it('is rejected in a patch', async () => {
    await send(JOBS, 'application/json', json('patched', '5'));
    const body = `{"spec":{"activeDeadlineSeconds":${literal}}}`;
    const answer = await send(`${JOBS}/patched`, 'application/merge-patch+json', body, 'PATCH');
    expect(answer).toMatchObject({ code: 400, message: REFUSAL });
  });
});

describe('accepted', () => {
  it('integers that are exact', async () => {
    const { code, object } = await send(JOBS, 'application/json', json('b', '4294967295'));
    expect([code, object.spec.activeDeadlineSeconds]).toEqual([200, 4294967295]);
  });

  it('large numbers in free-form data, as JavaScript reads them', async () => {
    const body = '{"metadata":{"name":"a"},"revision":9007199254740991,"data":{"big":9007199254740993,"float":1e300}}';
    const revisions = '/apis/apps/v1/namespaces/default/controllerrevisions';
    const { code, object } = await send(revisions, 'application/json', body);
    expect(code).toBe(200);
    expect(object).toMatchObject({ revision: 9007199254740991, data: { big: 9007199254740992, float: 1e300 } });
  });
});
