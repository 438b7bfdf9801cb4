import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { htmlLinks } from './html-links.ts';

const rewritten = (...chunks: string[]) => {
  const page = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  return text(page.pipe(htmlLinks((url) => (url.startsWith('/') ? `/proxy${url}` : url))));
};

it.each([
  ['<a href="/x">', '<a href="/proxy/x">'],
  ["<A CLASS=b HREF='/x' id=c>", "<A CLASS=b HREF='/proxy/x' id=c>"],
  ['<img src=/x alt>', '<img src=/proxy/x alt>'],
  ['<img alt src = "/x"/>', '<img alt src = "/proxy/x"/>'],
  ['<a title="href=/x" href="/y">', '<a title="href=/x" href="/proxy/y">'],
  ['<a title=">" href="/y">ü</a>', '<a title=">" href="/proxy/y">ü</a>'],
  ['<script src="/s.js">"<a href=\'/x\'>"</script><a href="/y">', undefined],
  ['<div href="/x">', '<div href="/x">'],
  ['<a href="x">', '<a href="x">'],
  // A property name that every object has.
  ['<constructor href="/x">', '<constructor href="/x">'],
  ['<!-- <a href="/x"> --><link href="/y">', '<!-- <a href="/x"> --><link href="/proxy/y">'],
  ['1 < 2 <a href="/x">', '1 < 2 <a href="/proxy/x">'],
  ['<a href="/x"', '<a href="/x"'],
  ['<object data="/x" codebase="/y">', '<object data="/proxy/x" codebase="/proxy/y">'],
])('a link is rewritten: %s', async (page, expected) => {
  const whole = expected ?? '<script src="/proxy/s.js">"<a href=\'/x\'>"</script><a href="/proxy/y">';
  expect(await rewritten(page)).toBe(whole);
  // The result does not depend on how the bytes are split.
  expect(await rewritten(...Buffer.from(page).toString('latin1')).then(asBytes)).toBe(asBytes(whole));
});

/** Compares pages as bytes: single bytes of a character are not characters. */
const asBytes = (page: string) => page.replaceAll('Ã¼', 'ü');

it('passes on a tag that does not end', async () => {
  const page = `<a ${'x'.repeat(200_000)}`;
  expect(await rewritten(page)).toBe(page);
});

it('takes linear time', async () => {
  const page = (bytes: number) => '<script></script>'.repeat(bytes / 17);
  const time = async (bytes: number) => {
    const content = page(bytes);
    const start = performance.now();
    await rewritten(content);
    return performance.now() - start;
  };
  // Alternates the sizes, so that other load on the machine affects both.
  const least = { small: Number.POSITIVE_INFINITY, large: Number.POSITIVE_INFINITY };
  for (let i = 0; i < 20; i++) {
    least.small = Math.min(least.small, await time(200_000));
    least.large = Math.min(least.large, await time(400_000));
  }
  expect(least.large / least.small).toBeLessThan(3);
});
