import { expect, it } from 'vitest';
import { DOMAIN, recordLine } from '../../../../test/support/network/dns.ts';
import { RecordType, ResponseCode } from '../../../protocols/dns-message/codes.ts';
import { cnameRecord } from '../../../protocols/dns-message/record.ts';
import { Authority } from './authority.ts';
import { federationRecords, localRecords, parseFederations, placeOf } from './federations.ts';
import { serviceRecords } from './records.ts';
import { Zone } from './zone.ts';

const FEDERATIONS = [{ name: 'fed', domain: 'example.com' }];
const node = (zone?: string, region?: string) =>
  ({
    metadata: {
      labels: {
        ...(zone ? { 'topology.kubernetes.io/zone': zone } : {}),
        ...(region ? { 'failure-domain.beta.kubernetes.io/region': region } : {}),
      },
    },
  }) as any;
const service = {
  metadata: { name: 'web', namespace: 'shop' },
  spec: { type: 'ClusterIP', clusterIP: '10.96.0.7' },
} as any;
const slice = (ready?: boolean) => ({ endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready } }] }) as any;

it('federations are read from the configuration, without what is no name', () => {
  expect(parseFederations('fed=example.com., b = b.test,c,=d.test,e=..')).toEqual([
    { name: 'fed', domain: 'example.com' },
    { name: 'b', domain: 'b.test' },
  ]);
  expect(parseFederations(undefined)).toEqual([]);
});

it('the place of a cluster is that of the first node that has zone and region', () => {
  expect(placeOf([node(), node(undefined, 'r0'), node('a', 'r1'), node('b', 'r2')])).toBe('a.r1');
  expect(placeOf([node('a'), node(undefined, 'r0')])).toBe('r0');
  expect(placeOf([node('a'), node()])).toBe('');
});

function authorityWith(slices: readonly any[], place = 'a.r1'): Authority {
  const zone = new Zone();
  const records = serviceRecords(service, slices, DOMAIN);
  const context = { federations: FEDERATIONS, slices, clusterDomain: DOMAIN };
  zone.apply({ source: 'service/shop/web', records: [...records, ...localRecords(service, records, context)] });
  zone.apply({ source: 'federations', records: federationRecords(FEDERATIONS, place, DOMAIN) });
  return new Authority(zone, { domain: DOMAIN, ranges: [], serviceAddress: undefined });
}

const ask = (authority: Authority, name: string, type: number = RecordType.A) => {
  const answer = authority.answer({ name: `${name}.${DOMAIN}`, type })!;
  return { code: answer.code, lines: answer.answers.map(recordLine), alias: answer.alias };
};

it('a service with ready endpoints is found here', () => {
  const name = `web.shop.fed.svc`;
  expect(ask(authorityWith([slice(true)]), name)).toEqual({
    ...{ code: ResponseCode.NOERROR, lines: [`${name}.${DOMAIN} A 10.96.0.7`], alias: undefined },
  });
  expect(ask(authorityWith([slice()]), name, RecordType.AAAA)).toMatchObject({ code: ResponseCode.NOERROR, lines: [] });
});

it.each([
  ['web', 'a.r1', [], 'web.shop.fed.svc.a.r1.example.com'],
  ['web', 'r1', [slice(false)], 'web.shop.fed.svc.r1.example.com'],
  ['other', '', [slice(true)], 'other.shop.fed.svc.example.com'],
])('the service %s without ready endpoints in %s leads to the federation', (name, place, slices, target) => {
  const asked = `${name}.shop.fed.svc`;
  const lines = [recordLine(cnameRecord(`${asked}.${DOMAIN}`, target))];
  expect(ask(authorityWith(slices, place), asked)).toEqual({ code: ResponseCode.NOERROR, lines, alias: target });
});

it.each(['web.shop.other.svc', 'shop.fed.svc', 'a.web.shop.fed.svc', '_x.shop.fed.svc'])(
  '%s is no name of a federation',
  (name) => {
    const { code, lines } = ask(authorityWith([]), name);
    expect({ code, lines }).toEqual({ code: ResponseCode.NXDOMAIN, lines: [] });
  },
);
