import { expect, it } from 'vitest';
import { ControlledClock } from '../../../../base/time/clock.ts';
import { answering, Health, HealthResults, healthPath, runCheck, runChecks } from './health.ts';

const well = { name: 'ping', check: () => undefined };
const ill = { name: 'etcd', check: () => Promise.reject(new Error('no answer')) };

it.each([
  ['/healthz', { name: 'healthz', check: undefined }],
  ['/readyz/', { name: 'readyz', check: undefined }],
  ['/livez/ping', { name: 'livez', check: 'ping' }],
  ['/readyz/poststarthook/x', { name: 'readyz', check: 'poststarthook/x' }],
  ['/healthzz', undefined],
  ['/api/healthz', undefined],
])('%s', (path, parts) => {
  expect(healthPath(path)).toEqual(parts);
});

it('responds ok, or more if verbose', async () => {
  expect(await runChecks('livez', [well], { search: '' })).toEqual({ code: 200, text: 'ok' });
  expect(await runChecks('livez', [well], { search: 'verbose' })).toEqual({
    code: 200,
    text: '[+]ping ok\nlivez check passed\n',
  });
});

it('reports which check failed but not why', async () => {
  expect(await runChecks('readyz', [well, ill], { search: '' })).toEqual({
    code: 500,
    text: '[+]ping ok\n[-]etcd failed: reason withheld\nreadyz check failed\n',
  });
});

it('excludes checks, and reports unknown ones', async () => {
  expect(await runChecks('healthz', [well, ill], { search: 'exclude=etcd' })).toEqual({ code: 200, text: 'ok' });
  expect((await runChecks('healthz', [well, ill], { search: 'verbose&exclude=etcd&exclude=nope' })).text).toBe(
    '[+]ping ok\n[+]etcd excluded: ok\nwarn: some health checks cannot be excluded: no matches for "nope"\nhealthz check passed\n',
  );
});

it('times out', async () => {
  const clock = new ControlledClock();
  const asked = runCheck('etcd', [answering('etcd', () => new Promise(() => undefined), clock)]);
  await clock.advance(2_000);
  expect((await asked).text).toBe('internal server error: no answer in 2000 ms\n');
  expect(await runCheck('etcd', [answering('etcd', () => 7, clock)])).toEqual({ code: 200, text: 'ok' });
});

it('runs checks of startup once for livez, and all checks of an endpoint only for that one', async () => {
  let problem: string | undefined = 'not yet';
  const fails = () => {
    if (problem !== undefined) throw new Error(problem);
  };
  const health = new Health({
    checks: [
      { name: 'poststarthook/roles', check: fails, isOfStart: true },
      { name: 'informer-sync', check: () => undefined, endpoints: ['readyz'] },
    ],
    ...{ isReady: () => true, isDraining: () => false, results: new HealthResults() },
  });
  const ask = async (path: string) => (await health.answer(healthPath(path)!, '')).code;
  expect(await ask('/livez')).toBe(500);
  problem = undefined;
  expect(await Promise.all(['/livez', '/readyz/poststarthook/roles', '/healthz'].map(ask))).toEqual([200, 200, 200]);
  problem = 'gone again';
  expect(await Promise.all(['/livez', '/readyz/poststarthook/roles', '/healthz'].map(ask))).toEqual([200, 500, 500]);
  expect(await Promise.all(['/readyz/informer-sync', '/livez/informer-sync'].map(ask))).toEqual([200, 404]);
});

it('runs a single check', async () => {
  expect(await runCheck('ping', [well, ill])).toEqual({ code: 200, text: 'ok' });
  expect(await runCheck('etcd', [well, ill])).toEqual({ code: 500, text: 'internal server error: no answer\n' });
  expect((await runCheck('nope', [well])).code).toBe(404);
});

it('counts results by endpoint and check, without excluded ones', async () => {
  const results = new HealthResults();
  expect(results.text()).toBe('');
  await runChecks('livez', [well], { search: '', results });
  await runChecks('readyz', [well, ill], { search: '', results });
  await runChecks('readyz', [well, ill], { search: 'exclude=etcd', results });
  expect(
    results.text(),
  ).toBe(`# HELP kubernetes_healthcheck [STABLE] This metric records the result of a single healthcheck.
# TYPE kubernetes_healthcheck gauge
kubernetes_healthcheck{name="ping",type="livez"} 1
kubernetes_healthcheck{name="ping",type="readyz"} 1
kubernetes_healthcheck{name="etcd",type="readyz"} 0
# HELP kubernetes_healthchecks_total [STABLE] This metric records the results of all healthcheck.
# TYPE kubernetes_healthchecks_total counter
kubernetes_healthchecks_total{name="ping",status="success",type="livez"} 1
kubernetes_healthchecks_total{name="ping",status="success",type="readyz"} 2
kubernetes_healthchecks_total{name="etcd",status="error",type="readyz"} 1
`);
});

it('has metrics of a server that nobody probes', async () => {
  const health = new Health({
    ...{ checks: [], isReady: () => false, isDraining: () => false, results: new HealthResults() },
  });
  const text = await health.metrics();
  expect(text).toContain('kubernetes_healthcheck{name="ping",type="livez"} 1\n');
  expect(text).toContain('kubernetes_healthcheck{name="poststarthook/start-controllers",type="readyz"} 0\n');
  expect(text).toContain('kubernetes_healthchecks_total{name="ping",status="success",type="livez"} 1\n');
});
