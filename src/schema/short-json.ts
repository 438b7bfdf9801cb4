/**
 * Length above which values are cut in messages: a request may have a value of megabytes, or a thousand errors about
 * one list.
 */
export const MAX_QUOTED_CHARACTERS = 2_000;

/**
 * Returns a value in JSON, as `JSON.stringify` writes it, but cut off with `...` behind the first 2,000 characters. The
 * rest is not looked at.
 */
export function shortJson(value: unknown): string {
  const known = typeof value === 'object' && value !== null ? longTexts.get(value) : undefined;
  if (known) return known;
  const writer = new Writer();
  writer.add(value);
  if (writer.left >= 0) return writer.text;
  const text = `${writer.text.slice(0, MAX_QUOTED_CHARACTERS)}...`;
  if (typeof value === 'object' && value !== null) longTexts.set(value, text);
  return text;
}

/** Texts of long lists and objects: some rules quote the whole list in the error of each item. */
const longTexts = new WeakMap<object, string>();

class Writer {
  text = '';

  get left(): number {
    return MAX_QUOTED_CHARACTERS - this.text.length;
  }

  add(value: unknown): void {
    if (this.left < 0) return;
    if (typeof value === 'string') this.#addString(value);
    else if (typeof value !== 'object' || value === null) this.text += JSON.stringify(value) ?? 'null';
    else if (Array.isArray(value)) this.#addList(value);
    else this.#addObject(value as Readonly<Record<string, unknown>>);
  }

  /** A character beyond the limit suffices to exceed it. */
  #addString(value: string): void {
    this.text += JSON.stringify(value.length > this.left ? value.slice(0, this.left + 1) : value);
  }

  #addList(list: readonly unknown[]): void {
    this.text += '[';
    for (let i = 0; i < list.length && this.left >= 0; i++) {
      if (i > 0) this.text += ',';
      this.add(list[i]);
    }
    this.text += ']';
  }

  #addObject(object: Readonly<Record<string, unknown>>): void {
    let separator = '{';
    for (const key in object) {
      if (object[key] === undefined) continue;
      if (this.left < 0) return;
      this.text += separator;
      separator = ',';
      this.#addString(key);
      this.text += ':';
      this.add(object[key]);
    }
    this.text += separator === '{' ? '{}' : '}';
  }
}
