/**
 * Requires parsers of client text to take linear time for any text: a quadratic one would stop the server for minutes
 * with the text that fits into a body.
 */

import { describe, expect, it } from 'vitest';
import { canonicalQuantity, parseQuantity } from '../../src/base/quantity.ts';
import { isTimeZone, parseCronSchedule } from '../../src/kinds/groups/batch/cron-schedule.ts';
import { firstCommonIndex, parseIndexes } from '../../src/kinds/groups/batch/indexes.ts';
import { pullPolicyOf } from '../../src/kinds/shapes/container/image-name.ts';
import { cidrProblems, ipProblems } from '../../src/kinds/shapes/meta/addresses/ip-address.ts';
import { parseChallenge } from '../../src/node/images/registry/authorization.ts';
import { decodePax } from '../../src/node/images/tar/header.ts';
import { EntryReader } from '../../src/node/logs/entries.ts';
import { field, message, texts } from '../../src/protocols/protobuf/message.ts';
import { canonicalDuration, canonicalTime } from '../../src/schema/decode/time-formats.ts';
import * as names from '../../src/schema/names.ts';
import { parseFieldSelector, parseLabelSelector } from '../../src/schema/selector/selector.ts';
import { requestedUser } from '../../src/server/access/authz/impersonation/requested-user.ts';
import { coversPath } from '../../src/server/access/authz/rbac/rule.ts';
import { decodeToken } from '../../src/server/objects/reads/continue-token.ts';
import { decodeJson } from '../../src/server/serving/codec/json.ts';
import { formatOf, patchTypeOf } from '../../src/server/serving/http/body/decode-body.ts';
import { negotiate } from '../../src/server/serving/http/respond/accept.ts';
import { parseQuery } from '../../src/server/serving/http/route/query.ts';

const { inRange: _, portNumber: __, nameRule: ___, pathSegmentName: ____, ...checks } = names;

const PARSERS: Readonly<Record<string, (text: string) => unknown>> = {
  ...checks,
  parseQuantity,
  canonicalQuantity,
  canonicalDuration,
  canonicalTime: (text) => canonicalTime(text, 0),
  canonicalMicroTime: (text) => canonicalTime(text, 6),
  parseCronSchedule,
  isTimeZone,
  parseIndexes: (text) => parseIndexes(text, 2 ** 31 - 1),
  firstCommonIndex: (text) => firstCommonIndex(text, text, 2 ** 31 - 1),
  pullPolicyOf,
  ipProblems,
  cidrProblems,
  parseLabelSelector,
  parseFieldSelector,
  coversPath: (text) => coversPath(text, `${text}/`),
  formatOf,
  patchTypeOf,
  decodeJson: (text) => decodeJson(Buffer.from(text), 500),
  negotiate: (text) => negotiate(text),
  parseQuery,
  decodeToken,
  impersonatedGroups: (text) => requestedUser({ 'impersonate-user': 'a', 'impersonate-group': text }),
  parseChallenge: (text) => parseChallenge(`Bearer ${text}`),
  decodePax: (text) => attempt(() => decodePax(Buffer.from(text))),
  logEntries: (text) => new EntryReader({ timestamps: true, since: 0, stream: undefined }).push(Buffer.from(text)),
  impersonatedExtra: (text) => requestedUser({ 'impersonate-user': 'a', [`impersonate-extra-${text}`]: text }),
};

function attempt(parse: () => unknown): unknown {
  try {
    return parse();
  } catch (error) {
    return error;
  }
}

const UNITS = [
  ...[
    'a',
    '0',
    '9',
    '.',
    ',',
    ' ',
    '-',
    ':',
    '/',
    '=',
    '!',
    '(',
    '\\',
    '*',
    '%',
    '_',
    '@',
    ';',
    '\n',
    'é',
    '"',
    '[',
    '{',
  ],
  ...[
    'a.',
    'a-',
    'a,',
    '1.',
    '0.',
    '1:',
    'a/',
    'a=b,',
    'a in (',
    '\\,',
    '1h',
    '1m',
    '*,',
    '%41',
    '__a',
    'a:',
    '0:',
    '::',
  ],
  ...['=a&', 'dryRun=All&', '*/*,', ';q=1,', '1-2,', '"a",', ', '],
];
const HEADS = ['', '1', '1.', 'TZ=', '@every ', 'a in (', '"'];
const TAILS = ['', '!'];

const LENGTH = 20_000;
const FACTOR = 4;
/** Linear parsers are far below it; others are measured again with a longer text. */
const QUICK_MS = 10;

/** Returns milliseconds of processor time, which does not include waiting for other processes. */
function timeOf(parse: (text: string) => unknown, text: string, attempts: number): number {
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < attempts; i++) {
    const before = process.cpuUsage();
    try {
      parse(text);
    } catch (error) {
      // An error of the program itself would be answered with 500.
      if (error instanceof RangeError || error instanceof TypeError) throw error;
    }
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / 1_000);
  }
  return best;
}

describe('takes linear time', () => {
  it.each(Object.entries(PARSERS))('%s', (_name, parse) => {
    for (const unit of UNITS) {
      for (const head of HEADS) {
        for (const tail of TAILS) {
          const textOf = (length: number) => head + unit.repeat(length / unit.length) + tail;
          if (timeOf(parse, textOf(LENGTH), 1) < QUICK_MS) continue;
          const short = timeOf(parse, textOf(LENGTH), 3);
          if (short < QUICK_MS) continue;
          const long = timeOf(parse, textOf(LENGTH * FACTOR), 3);
          expect(long, JSON.stringify([head, unit, tail])).toBeLessThan(short * FACTOR * 2);
        }
      }
    }
  });
});

it('reads a map of protobuf in linear time', () => {
  const Labels = message({ labels: field(1, texts) });
  const timeFor = (count: number) => {
    const labels = Object.fromEntries(Array.from({ length: count }, (_, i) => [`key-${i}`, 'value']));
    const bytes = Labels.encode({ labels });
    return timeOf(() => Labels.decode(bytes), '', 3);
  };
  const short = Math.max(QUICK_MS, timeFor(4_000));
  expect(timeFor(16_000)).toBeLessThan(short * 8);
});

it('reads a log of empty lines in linear time', () => {
  const timeFor = (length: number) =>
    timeOf(
      () =>
        new EntryReader({ timestamps: false, since: undefined, stream: undefined }).push(Buffer.alloc(length, '\n')),
      '',
      3,
    );
  const short = Math.max(QUICK_MS, timeFor(64 * 1024));
  expect(timeFor(256 * 1024)).toBeLessThan(short * 8);
});

it('a common index of long lists is found in linear time', () => {
  const list = (from: number, step: number, count: number) =>
    Array.from({ length: count }, (_, i) => from + i * step).join(',');
  const timeFor = (count: number) => {
    const [even, odd] = [list(0, 2, count), list(1, 2, count)];
    return timeOf(() => firstCommonIndex(even, odd, 2 ** 31 - 1), '', 3);
  };
  // In this order: the first one is slower than it will be, because V8 has not compiled it yet.
  const short = Math.max(QUICK_MS, timeFor(5_000));
  expect(timeFor(20_000)).toBeLessThan(short * 8);
});
