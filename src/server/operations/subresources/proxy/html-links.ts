/** Rewrites the links of an HTML page while streaming it. */
import { Transform } from 'node:stream';

/** Attributes with URLs, by element, as in Kubernetes. */
const LINKS: Readonly<Record<string, readonly string[]>> = {
  a: ['href'],
  applet: ['codebase'],
  area: ['href'],
  audio: ['src'],
  base: ['href'],
  blockquote: ['cite'],
  body: ['background'],
  button: ['formaction'],
  command: ['icon'],
  del: ['cite'],
  embed: ['src'],
  form: ['action'],
  frame: ['longdesc', 'src'],
  head: ['profile'],
  html: ['manifest'],
  iframe: ['longdesc', 'src'],
  img: ['longdesc', 'src', 'usemap'],
  input: ['src', 'usemap', 'formaction'],
  ins: ['cite'],
  link: ['href'],
  object: ['classid', 'codebase', 'data', 'usemap'],
  q: ['cite'],
  script: ['src'],
  source: ['src'],
  video: ['poster', 'src'],
};

/** Elements whose content is plain text, whatever it looks like. */
const RAW = ['script', 'style', 'textarea', 'title', 'xmp', 'iframe', 'noembed', 'noframes', 'noscript', 'plaintext'];

/** Limit for the length of a tag; longer ones are passed on unchanged. */
const MAX_TAG_LENGTH = 64 * 1024;

/** A part that is passed on unparsed up to its end, which has this many characters. */
interface Unseen {
  readonly end: RegExp;
  readonly length: number;
}

const COMMENT: Unseen = { end: /-->/g, length: 3 };
const CONTENTS = new Map<string, Unseen>(
  RAW.map((name) => [name, { end: new RegExp(`</${name}`, 'gi'), length: name.length + 2 }]),
);

/** Creates a stream that holds back at most one tag. Pages are in UTF-8, or have ASCII for markup. */
export function htmlLinks(rewrite: (url: string) => string): Transform {
  const links = new LinkRewriter(rewrite);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      done(null, Buffer.from(links.take(chunk.toString('latin1')), 'latin1'));
    },
    flush(done) {
      done(null, Buffer.from(links.held, 'latin1'));
    },
  });
}

class LinkRewriter {
  /** Text that has not been passed on: the beginning of a tag, or of an end. */
  held = '';
  #unseen: Unseen | undefined;
  /** Position up to which the held tag was searched for its end, and the quote that was open there. */
  #searched = 0;
  #quote = '';

  constructor(private readonly rewrite: (url: string) => string) {}

  /** Adds a chunk, and returns the text that can be passed on. */
  take(chunk: string): string {
    const text = this.held + chunk;
    const out: string[] = [];
    let at = 0;
    while (at < text.length) {
      const passed = this.#unseen ? this.#pass(text, at, this.#unseen) : textEnd(text, at);
      out.push(text.slice(at, passed));
      at = passed;
      if (this.#unseen || at >= text.length) break;
      if (text[at] !== '<') continue;
      const length = this.#tag(text, at);
      if (length === undefined) break;
      out.push(this.#seen(text.slice(at, at + length)));
      at += length;
    }
    this.held = text.slice(at);
    return out.join('');
  }

  /** Returns the end of the text that is passed on; resets `#unseen` when its end is found. */
  #pass(text: string, from: number, { end, length }: Unseen): number {
    end.lastIndex = from;
    const found = end.exec(text);
    if (!found) return Math.max(from, text.length - length + 1);
    this.#unseen = undefined;
    return found.index + length;
  }

  /** Returns the length of the part that begins with `<`; undefined while that is not known. */
  #tag(text: string, at: number): number | undefined {
    const rest = text.length - at;
    if (rest < 4 && '<!--'.startsWith(text.slice(at))) return undefined;
    if (text.startsWith('<!--', at)) return 4;
    if (!isLetter(text.charCodeAt(at + 1))) return 1;
    for (; this.#searched < rest && this.#searched < MAX_TAG_LENGTH; this.#searched++) {
      const character = text[at + this.#searched]!;
      if (this.#quote !== '') {
        if (character === this.#quote) this.#quote = '';
      } else if (character === '"' || character === "'") this.#quote = character;
      else if (character === '>') break;
    }
    if (this.#searched === rest && rest < MAX_TAG_LENGTH) return undefined;
    const length = Math.min(this.#searched + 1, MAX_TAG_LENGTH);
    this.#searched = 0;
    this.#quote = '';
    return length;
  }

  #seen(tag: string): string {
    const name = tag === '<!--' ? '' : tagName(tag);
    this.#unseen = tag === '<!--' ? COMMENT : CONTENTS.get(name);
    return name === '' ? tag : rewriteTag(tag, name, this.rewrite);
  }
}

/** Returns the position of the next tag, or the end. */
function textEnd(text: string, from: number): number {
  const at = text.indexOf('<', from);
  return at < 0 ? text.length : at;
}

function isLetter(code: number): boolean {
  return (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}

function tagName(tag: string): string {
  return /^<([a-z][a-z0-9]*)/i.exec(tag)?.[1]?.toLowerCase() ?? '';
}

function rewriteTag(tag: string, name: string, rewrite: (url: string) => string): string {
  const links = Object.hasOwn(LINKS, name) ? LINKS[name] : undefined;
  if (!links || !tag.endsWith('>')) return tag;
  let out = '';
  let copied = 0;
  for (const { name: attribute, start, end } of attributesOf(tag)) {
    if (!links.includes(attribute)) continue;
    const value = tag.slice(start, end);
    out += tag.slice(copied, start) + rewrite(value);
    copied = end;
  }
  return out + tag.slice(copied);
}

interface Attribute {
  readonly name: string;
  /** Start of the value, without quotes. */
  readonly start: number;
  readonly end: number;
}

/** Yields the attributes of a tag that have values, in order. Reads every character once. */
function* attributesOf(tag: string): Generator<Attribute> {
  const last = tag.length - 1;
  let at = 1;
  const skip = (test: (character: string) => boolean) => {
    while (at < last && test(tag[at]!)) at++;
  };
  skip((character) => !isSpace(character) && character !== '/');
  while (at < last) {
    skip((character) => isSpace(character) || character === '/');
    const from = at;
    skip((character) => !isSpace(character) && character !== '/' && character !== '=');
    const name = tag.slice(from, at).toLowerCase();
    skip(isSpace);
    if (tag[at] !== '=') {
      // An attribute without a value; the next one begins here.
      if (at === from) at++;
      continue;
    }
    at++;
    skip(isSpace);
    const quote = tag[at] === '"' || tag[at] === "'" ? tag[at]! : '';
    if (quote) at++;
    const start = at;
    skip((character) => (quote ? character !== quote : !isSpace(character)));
    yield { name, start, end: at };
    if (quote) at++;
  }
}

function isSpace(character: string): boolean {
  return character === ' ' || character === '\n' || character === '\t' || character === '\r' || character === '\f';
}
