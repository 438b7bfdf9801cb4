import { describe, expect, it } from 'vitest';
import { negotiate, negotiateStream } from './accept.ts';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

describe('replies', () => {
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

  it('can be asked for in an indented form', () => {
    expect(negotiate('application/json;pretty=1')).toEqual({ format: 'json', pretty: true });
  });
});

describe('streams', () => {
  it.each([undefined, '*/*', 'application/json', 'application/json;stream=watch', `${TABLE},application/json`])(
    '%s gets JSON',
    (accept) => {
      expect(negotiateStream(accept).format).toBe('json');
    },
  );

  it.each(['application/yaml', 'application/vnd.kubernetes.protobuf;stream=watch'])('%s gets nothing', (accept) => {
    expect(() => negotiateStream(accept)).toThrow('application/json;stream=watch');
  });
});
