/**
 * Replays the recorded answers of a Kubernetes 1.7 server, request by request, and compares. Where our answer differs,
 * the difference and its reason are in observed/differences.ts; the order of precedence is the specification, the
 * design, Kubernetes 1.36, then this.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mismatches, normalise } from './observed/compare.ts';
import { expectedOf, isNewerField } from './observed/differences.ts';
import { bodies } from './observed/requests.ts';
import { type Qd, startQd } from './program.ts';

/** Plugins that the observed server did not have: it ran without accounts, and knew no priorities. */
const NEWER_PLUGINS =
  'ServiceAccount,Priority,DefaultTolerationSeconds,TaintNodesByCondition,StorageObjectInUseProtection';

interface Observed {
  readonly method: string;
  readonly path: string;
  readonly code: number;
  readonly type: string | null;
  readonly multiline: boolean;
  readonly body: any;
}

const root = join(import.meta.dirname, '..', '..');
const file = join(process.env.QUARTERDECK_REFERENCE ?? join(root, '..', 'shared', 'reference'), 'observed-1.7.json');
const isThere = existsSync(file);
const cases: [string, Observed][] = isThere ? Object.entries(JSON.parse(readFileSync(file, 'utf8'))) : [];
const NAMESPACE = 'observed';

if (!isThere) console.log(`skipped: ${file} is not there; QUARTERDECK_REFERENCE can name its folder`);

describe.skipIf(!isThere)('what a 1.7 server answered', () => {
  let qd: Qd;
  beforeAll(async () => {
    qd = await startQd({
      flags: [
        ...['--service-cluster-ip-range', '10.97.0.0/16', '--disable-admission-plugins', NEWER_PLUGINS],
        // No controllers ran beside that server.
        ...['--controllers', 'namespace,service-account,root-ca'],
      ],
    });
    await qd.request('POST', '/api/v1/namespaces', { body: { metadata: { name: NAMESPACE } } });
  });
  afterAll(() => qd?.stop());

  for (const [name, observed] of cases) {
    test(`${name}: ${observed.method} ${observed.path.replace(/obs-\w+/, 'NS')}`, async () => {
      const path = observed.path.replace(/obs-\w+/, NAMESPACE);
      const body = bodies[name];
      const current = async () => (await qd.request('GET', path)).body;
      const request = typeof body === 'function' ? await body({ current }) : body;
      const answer = await qd.request(observed.method, path, request);

      const expected = expectedOf(name, observed, answer);
      expect(answer.code, JSON.stringify(answer.body)).toBe(expected.code);
      expect(answer.type).toBe(expected.type);
      if (expected.body === undefined) return;
      // A watch with one event reads like one object.
      const isWatch = Array.isArray(expected.body) && !Array.isArray(answer.body);
      const found = mismatches(
        normalise(expected.body, NAMESPACE),
        normalise(isWatch ? [answer.body] : answer.body, NAMESPACE),
        (at) => isNewerField(kindOf(expected.body), at),
      );
      if (found.length > 0) expect.fail(found.join('\n'));
      if (observed.multiline) expect(answer.text).toContain('\n  ');
    });
  }
});

function kindOf(body: any): string {
  return body?.[0]?.object?.kind ?? body?.kind ?? '';
}
