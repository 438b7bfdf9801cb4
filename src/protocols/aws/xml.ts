/** The little XML that AWS speaks: elements and text, without attributes that matter. */

export interface XmlElement {
  readonly name: string;
  /** Text without that of its children. */
  readonly text: string;
  readonly children: readonly XmlElement[];
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

interface OpenElement {
  readonly name: string;
  text: string;
  readonly children: XmlElement[];
}

/** Far more than a page of records has. */
const MAX_ELEMENTS = 100_000;
/** Sections with their own end and no elements inside. */
const SPECIAL = [
  ['<![CDATA[', ']]>'],
  ['<!--', '-->'],
  ['<?', '?>'],
] as const;

/** The root element. Throws when the text is no XML. Takes time in proportion to its length. */
export function parseXml(text: string): XmlElement {
  const root: OpenElement = { name: '', text: '', children: [] };
  const open = [root];
  const source = text.replace(/^\uFEFF/, '');
  let elements = 0;
  let position = 0;
  const upTo = (end: string) => {
    const at = source.indexOf(end, position);
    if (at < 0) throw new Error('the response is not XML: it is incomplete');
    return at;
  };
  while (position < source.length) {
    const current = open.at(-1)!;
    const special = SPECIAL.find(([start]) => source.startsWith(start, position));
    if (special) {
      const end = upTo(special[1]);
      if (special[0] === '<![CDATA[') current.text += source.slice(position + special[0].length, end);
      position = end + special[1].length;
    } else if (source[position] !== '<') {
      const next = source.indexOf('<', position);
      const end = next < 0 ? source.length : next;
      current.text += source.slice(position, end).replace(/&(#x?)?(\w+);/g, entity);
      position = end;
    } else {
      const end = upTo('>');
      const tagged = source.slice(position + 1, end);
      position = end + 1;
      if (++elements > MAX_ELEMENTS) throw new Error(`the response has more than ${MAX_ELEMENTS} elements`);
      if (tagged.startsWith('/')) close(open, tagged.slice(1).trimEnd());
      else begin(open, tagged);
    }
  }
  const [first] = root.children;
  if (!first || open.length > 1) throw new Error('the response is not XML: it is incomplete');
  return first;
}

function begin(open: OpenElement[], tagged: string): void {
  const name = /^[^\s/<]+/.exec(tagged)?.[0];
  if (name === undefined) throw new Error('the response is not XML: an element has no name');
  const element: OpenElement = { name, text: '', children: [] };
  open.at(-1)!.children.push(element);
  if (!tagged.endsWith('/')) open.push(element);
}

function close(open: OpenElement[], name: string): void {
  if (open.length === 1 || open.at(-1)!.name !== name) {
    throw new Error(`the response is not XML: </${name.slice(0, 100)}> closes nothing`);
  }
  open.pop();
}

function entity(all: string, number: string | undefined, name: string): string {
  if (number === undefined) return ENTITIES[name] ?? all;
  return String.fromCodePoint(Number.parseInt(name, number === '#x' ? 16 : 10));
}

/** The elements that a path of names leads to: `all(root, 'ResourceRecords', 'ResourceRecord')`. */
export function all(element: XmlElement, ...path: readonly string[]): readonly XmlElement[] {
  return path.reduce<readonly XmlElement[]>(
    (found, name) => found.flatMap(({ children }) => children.filter((child) => child.name === name)),
    [element],
  );
}

/** The text of the first element that a path leads to. */
export function textAt(element: XmlElement, ...path: readonly string[]): string | undefined {
  return all(element, ...path)[0]?.text.trim();
}

/** An element with its content, which is XML already. */
export function tag(name: string, content: string): string {
  return `<${name}>${content}</${name}>`;
}

export function escapeXml(text: string): string {
  return text.replace(/[<>&]/g, (char) => ({ '<': '&lt;', '>': '&gt;', '&': '&amp;' })[char]!);
}
