import { expect, test } from 'vitest';
import { machineName } from '../flags/machine-name.ts';
import type { AgentFlags } from './flags.ts';
import { rememberedOf, settleAgent } from './settle.ts';

const dataDir = '/data';
const server = 'https://192.0.2.2:6443';

test('a first start has what it is given, and defaults', () => {
  expect(settleAgent({ dataDir, server, caHash: 'sha256:00' }, {})).toMatchObject({
    ...{
      dataDir,
      server,
      caHash: 'sha256:00',
      runtime: 'auto',
      clusterDomain: 'cluster.local',
      nodeName: machineName(),
    },
  });
});

test('a later start has what the first one was given, whatever the machine is called now', () => {
  const first = settleAgent({ dataDir, server, caHash: 'sha256:00', maxPods: 20, nodeName: 'former' }, {});
  expect(settleAgent({ dataDir }, rememberedOf(first))).toEqual(first);
});

test('the command line takes precedence', () => {
  const other = 'https://192.0.2.3:6443';
  expect(settleAgent({ dataDir, server: other }, { server, nodeName: 'a' })).toMatchObject({
    server: other,
    nodeName: 'a',
  });
});

test('an authority that is named in another way replaces the remembered one', () => {
  const { caFile, caHash } = settleAgent({ dataDir, caHash: 'sha256:11' }, { caFile: '/ca.crt' });
  expect({ caFile, caHash }).toEqual({ caFile: undefined, caHash: 'sha256:11' });
});

test('tokens are not kept', () => {
  const flags = { dataDir, server, token: 'abcdef.0123456789abcdef' } as Partial<AgentFlags>;
  expect(rememberedOf(flags)).toEqual({ server });
});
