/** The cases of AWS' published test suite of Signature Version 4, and the example of its documentation. */
import { expect, it } from 'vitest';
import { signedHeaders } from './signature.ts';

const KEYS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
const NOW = Date.UTC(2015, 7, 30, 12, 36);
const HOST = 'https://example.amazonaws.com';

const signatureOf = (
  request: { method?: string; url: string; headers?: Record<string, string>; body?: string },
  service = 'service',
) =>
  signedHeaders({ method: 'GET', headers: {}, body: '', ...request }, KEYS, { region: 'us-east-1', service, now: NOW })
    .authorization!;

it.each([
  ['get-vanilla', { url: `${HOST}/` }, '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  [
    'get-vanilla-query-order-key-case',
    { url: `${HOST}/?Param2=value2&Param1=value1` },
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  ],
  [
    'post-vanilla',
    { method: 'POST', url: `${HOST}/` },
    '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
  ],
  [
    'post-x-www-form-urlencoded',
    {
      ...{ method: 'POST', url: `${HOST}/`, body: 'Param1=value1' },
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    },
    'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  ],
  [
    'get-unreserved',
    { url: `${HOST}/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz` },
    '07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f',
  ],
  ['get-utf8', { url: `${HOST}/ሴ` }, '8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85'],
])('%s', (_, request, signature) => {
  expect(signatureOf(request)).toContain(`Signature=${signature}`);
});

it('the documented example: a list of users', () => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' };
  const url = 'https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08';
  expect(signatureOf({ url, headers }, 'iam')).toBe(
    'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, ' +
      'SignedHeaders=content-type;host;x-amz-date, ' +
      'Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7',
  );
});

it('the token of temporary keys is sent and signed', () => {
  const headers = signedHeaders(
    { method: 'GET', url: `${HOST}/`, headers: {}, body: '' },
    { ...KEYS, sessionToken: 'temporary' },
    { region: 'us-east-1', service: 'service', now: NOW },
  );
  expect(headers).toMatchObject({ 'x-amz-security-token': 'temporary', 'x-amz-date': '20150830T123600Z' });
  expect(headers.authorization).toContain('SignedHeaders=host;x-amz-date;x-amz-security-token');
});

it('the documented example of S3: a range of an object', () => {
  const empty = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
  const headers = signedHeaders(
    {
      ...{ method: 'GET', url: 'https://examplebucket.s3.amazonaws.com/test.txt', body: '' },
      headers: { range: 'bytes=0-9', 'x-amz-content-sha256': empty },
    },
    { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' },
    { region: 'us-east-1', service: 's3', now: Date.UTC(2013, 4, 24) },
  );
  expect(headers.authorization).toBe(
    'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, ' +
      'SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, ' +
      'Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  );
});
