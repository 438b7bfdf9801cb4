import { describe, expect, it } from 'vitest';
import { errorFormat, negotiate, negotiateStream } from './accept.ts';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

describe('responses', () => {
  it.each([
    [undefined, 'json'],
    ['', 'json'],
    ['*/*', 'json'],
    ['application/*', 'json'],
    ['application/json', 'json'],
    ['application/json; charset=utf-8', 'json'],
    ['APPLICATION/JSON', 'json'],
    ['application/yaml', 'yaml'],
    ['application/yaml, application/json', 'yaml'],
    ['application/yaml;q=0.5, application/json', 'json'],
    ['*/*, application/yaml', 'yaml'],
    ['text/html,application/xhtml+xml,*/*;q=0.8', 'json'],
    ['application/vnd.kubernetes.protobuf, application/json', 'json'],
    [`${TABLE},application/json`, 'json'],
    [`${TABLE}, */*`, 'json'],
  ])('%s gets %s', (accept, format) => {
    expect(negotiate(accept).format).toBe(format);
  });

  it.each([
    'text/html',
    'application/vnd.kubernetes.protobuf',
    TABLE,
    'application/json;q=0',
    'text/*',
    'nonsense',
    ',',
    'application/json;stream=other',
  ])('%s gets nothing', (accept) => {
    expect(() => negotiate(accept)).toThrow(
      'only the following media types are accepted: application/json, application/yaml',
    );
  });

  it('can be requested with indentation', () => {
    expect(negotiate('application/json;pretty=1')).toEqual({ format: 'json', pretty: true });
  });
});

describe('other forms', () => {
  const table = { kind: 'Table', group: 'meta.k8s.io', version: 'v1' };
  const older = { kind: 'Table', group: 'meta.k8s.io', version: 'v1beta1' };
  const offers = { forms: [table, older], protobuf: false };
  const OLDER = 'application/json;as=Table;v=v1beta1;g=meta.k8s.io';

  it.each([
    [TABLE, table],
    [OLDER, older],
    [`${TABLE},${OLDER},application/json`, table],
    [`${OLDER};q=0.9,${TABLE};q=0.8,application/json;q=0.7`, older],
    [`application/json;as=Table;v=v2;g=meta.k8s.io,${OLDER},application/json`, older],
    ['application/json; as=Table; v=v1; g=meta.k8s.io', table],
    ['application/json;as=Table;v=v2;g=meta.k8s.io,application/json', undefined],
    [`application/json,${TABLE}`, undefined],
    [`${TABLE};q=0.5,*/*`, undefined],
  ])('%s', (accept, form) => {
    expect(negotiate(accept, offers)).toEqual({ format: 'json', pretty: false, ...(form && { form }) });
    expect(negotiateStream(accept, offers).form).toBe(form);
  });

  it('can be encoded as YAML, but not streamed', () => {
    const accept = 'application/yaml;as=Table;v=v1;g=meta.k8s.io';
    expect(negotiate(accept, offers)).toEqual({ format: 'yaml', pretty: false, form: table });
    expect(() => negotiateStream(accept, offers)).toThrow('application/json;stream=watch');
  });

  it.each([
    'application/json;as=Chart;v=v1;g=meta.k8s.io',
    'application/json;as=Table',
    'application/json;as=Table;v=v1;g=example.com',
    'application/json;v=v1',
  ])('are not available for %s', (accept) => {
    expect(() => negotiate(accept, offers)).toThrow('only the following media types are accepted');
  });

  it('are cached by their offers', () => {
    expect(negotiate(TABLE, offers).form).toBe(table);
    expect(() => negotiate(TABLE)).toThrow('only the following media types are accepted');
  });
});

it.each([undefined, '*/*', 'application/json', 'application/json;stream=watch', `${TABLE},application/json`])(
  'streams: %s gets JSON',
  (accept) => {
    expect(negotiateStream(accept).format).toBe('json');
  },
);

it.each(['application/yaml', 'application/vnd.kubernetes.protobuf;stream=watch'])(
  'streams: %s gets nothing',
  (accept) => {
    expect(() => negotiateStream(accept)).toThrow('application/json;stream=watch');
  },
);

describe('protobuf', () => {
  const PROTOBUF = 'application/vnd.kubernetes.protobuf';
  const METADATA = 'as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
  const table = { kind: 'Table', group: 'meta.k8s.io', version: 'v1' };
  const metadata = { kind: 'PartialObjectMetadata', group: 'meta.k8s.io', version: 'v1', protobuf: true };
  const forms = [table, metadata];
  const builtIn = { forms, protobuf: true };
  const custom = { forms, protobuf: false };

  it.each([
    [PROTOBUF, 'protobuf'],
    [`${PROTOBUF},application/json`, 'protobuf'],
    [`${PROTOBUF}, */*`, 'protobuf'],
    [`application/json, ${PROTOBUF}`, 'json'],
    [`${PROTOBUF};q=0.5, application/yaml`, 'yaml'],
    [`${PROTOBUF};as=Table;g=meta.k8s.io;v=v1, application/json;as=Table;g=meta.k8s.io;v=v1`, 'json'],
  ])('%s gets %s', (accept, format) => {
    expect(negotiate(accept, builtIn).format).toBe(format);
  });

  it('is streamed', () => {
    expect(negotiateStream(PROTOBUF, builtIn).format).toBe('protobuf');
    expect(negotiateStream(`${PROTOBUF};stream=watch`, builtIn).format).toBe('protobuf');
    expect(() => negotiateStream('application/yaml', builtIn)).toThrow(
      `application/json;stream=watch, ${PROTOBUF};stream=watch`,
    );
  });

  it('is offered for the metadata of custom kinds, but not for whole objects', () => {
    expect(negotiate(`${PROTOBUF},application/json`, custom).format).toBe('json');
    expect(() => negotiate(PROTOBUF, custom)).toThrow('application/json, application/yaml');
    expect(negotiate(`${PROTOBUF};${METADATA},application/json;${METADATA}`, custom)).toEqual({
      ...{ format: 'protobuf', pretty: false, form: metadata },
    });
  });

  it('is not offered for tables', () => {
    expect(() => negotiate(`${PROTOBUF};as=Table;g=meta.k8s.io;v=v1`, builtIn)).toThrow(
      `only the following media types are accepted: application/json, application/yaml, ${PROTOBUF}`,
    );
  });

  it('is used for errors wherever a client prefers it', () => {
    expect(errorFormat(`${PROTOBUF},application/json`)).toBe('protobuf');
    expect(errorFormat(`application/json,${PROTOBUF}`)).toBe('json');
    expect(errorFormat('text/html')).toBe('json');
  });
});
