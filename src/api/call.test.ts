import { expect, it } from 'vitest';
import { RequestNotes } from './call.ts';

it('keeps warnings in order, and equal ones once', () => {
  const notes = new RequestNotes();
  expect(notes.warnings).toBeUndefined();
  for (const text of ['b', 'a', 'b']) notes.warn(text);
  expect(notes.warnings).toEqual(['b', 'a']);
});

it('keeps the last value of an annotation', () => {
  const notes = new RequestNotes();
  expect(notes.annotations).toBeUndefined();
  notes.annotate('example.com/a', '1');
  notes.annotate('example.com/a', '2');
  expect(notes.annotations).toEqual({ 'example.com/a': '2' });
});
