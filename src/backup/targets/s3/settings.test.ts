import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { readSettings } from './settings.ts';

let home: string;
beforeEach(() => {
  home = temporaryDirectory();
  mkdirSync(join(home, '.aws'));
});
const settingsOf = (location: string, variables: Record<string, string> = {}) =>
  readSettings(location, { variables, home });
const profile = (file: 'credentials' | 'config', content: string) => writeFileSync(join(home, '.aws', file), content);

describe('the place of a bucket', () => {
  it('is Amazon without an endpoint', async () => {
    expect(await settingsOf('s3://backups')).toMatchObject({
      ...{ bucket: 'backups', prefix: '', endpoint: 'https://s3.us-east-1.amazonaws.com', style: 'virtual' },
    });
    expect(await settingsOf('s3://backups/a//b/?region=cn-north-1')).toMatchObject({
      ...{ prefix: 'a/b/', endpoint: 'https://s3.cn-north-1.amazonaws.com.cn', region: 'cn-north-1' },
    });
    expect(await settingsOf('s3://with.dots')).toMatchObject({ style: 'path' });
  });

  it('comes from the parameters, then the environment, then the profile', async () => {
    profile(
      'config',
      '[default]\nregion = de\nendpoint_url = http://profile\n\n[profile x]\nregion=eu-x ; comment\ns3 =\n  region = nested\n',
    );
    expect(await settingsOf('s3://backups')).toMatchObject({ region: 'de', endpoint: 'http://profile', style: 'path' });
    expect(await settingsOf('s3://backups', { AWS_PROFILE: 'x' })).toMatchObject({ region: 'eu-x' });
    const variables = { AWS_REGION: 'env', AWS_ENDPOINT_URL: 'http://all', AWS_ENDPOINT_URL_S3: 'http://env:1' };
    expect(await settingsOf('s3://backups', variables)).toMatchObject({ region: 'env', endpoint: 'http://env:1' });
    const text = 's3://backups?endpoint=https://own:9000&region=own&style=virtual';
    expect(await settingsOf(text, variables)).toMatchObject({
      ...{ region: 'own', endpoint: 'https://own:9000', style: 'virtual' },
    });
  });

  it.each([
    ['s3://', /expected the name of a bucket: s3:\/\/BUCKET/],
    ['s3://a', /name of a bucket/],
    ['s3://bucket/../x', /expected a prefix/],
    ['s3://bucket/a b', /expected a prefix .*found "a b"/],
    ['s3://bucket?endpont=http://x', /only the parameters endpoint, region, style, ca; found "endpont"/],
    ['s3://bucket?endpoint=localhost:9000', /expected an endpoint such as/],
    ['s3://bucket?endpoint=http://user:secret@host', /expected an endpoint/],
    ['s3://bucket?style=other', /the style "path" or "virtual"; found "other"/],
    ['s3://bucket?region=a/b', /expected a region/],
    ['s3://bucket?ca=/none', /authorities in \/none cannot be read: it does not exist/],
    ['s3://bucket?ca=/etc/hostname', /expected certificates as PEM/],
  ])('is rejected: %s', async (location, message) => {
    await expect(settingsOf(location)).rejects.toMatchObject({
      ...{ name: 'TargetError', problem: 'Invalid', message: expect.stringMatching(message) },
    });
  });
});

describe('the keys of a bucket', () => {
  it('come from the environment, or from the profile, as it is now', async () => {
    profile(
      'credentials',
      '# ours\n[default]\naws_access_key_id = a\naws_secret_access_key = b\n\n[x]\naws_access_key_id=c\naws_secret_access_key=d=\naws_session_token = e\n',
    );
    const { keys, keysFrom } = await settingsOf('s3://bucket');
    expect(await keys()).toEqual({ accessKeyId: 'a', secretAccessKey: 'b' });
    expect(keysFrom).toBe(`${home}/.aws/credentials [default]`);
    const other = await settingsOf('s3://bucket', { AWS_PROFILE: 'x' });
    expect(await other.keys()).toEqual({ accessKeyId: 'c', secretAccessKey: 'd=', sessionToken: 'e' });
    profile('credentials', '[default]\naws_access_key_id = new\naws_secret_access_key = b\n');
    expect(await keys()).toMatchObject({ accessKeyId: 'new' });
    const env = { AWS_ACCESS_KEY_ID: 'i', AWS_SECRET_ACCESS_KEY: 's', AWS_SESSION_TOKEN: 't' };
    expect(await (await settingsOf('s3://bucket', env)).keys()).toEqual({
      accessKeyId: 'i',
      secretAccessKey: 's',
      sessionToken: 't',
    });
  });

  it('are asked for when they are missing, in whole or in part', async () => {
    const { keys } = await settingsOf('s3://bucket');
    await expect(keys()).rejects.toThrow(`or write them to ${home}/.aws/credentials, section [default]`);
    const half = await settingsOf('s3://bucket', { AWS_ACCESS_KEY_ID: 'i' });
    await expect(half.keys()).rejects.toThrow('set AWS_SECRET_ACCESS_KEY, too');
  });
});
