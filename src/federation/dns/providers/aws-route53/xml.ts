/** The little XML that Route 53 speaks: elements and text, without attributes that matter. */

export interface XmlElement {
  readonly name: string;
  /** Without the text of its children. */
  readonly text: string;
  readonly children: readonly XmlElement[];
}

const TOKEN =
  /<!\[CDATA\[([\s\S]*?)\]\]>|<\?[\s\S]*?\?>|<!--[\s\S]*?-->|<\/([^\s>]+)\s*>|<([^\s/>]+)([^>]*?)(\/?)>|([^<]+)/y;
const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

interface OpenElement {
  readonly name: string;
  text: string;
  readonly children: XmlElement[];
}

/** The root element. Throws when the text is no XML. */
export function parseXml(text: string): XmlElement {
  const root: OpenElement = { name: '', text: '', children: [] };
  const open = [root];
  const source = text.replace(/^\uFEFF/, '');
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < source.length) {
    const match = TOKEN.exec(source);
    if (!match) throw new Error('the response is not XML');
    const [, data, closed, opened, , isEmpty, plain] = match;
    const current = open.at(-1)!;
    if (data !== undefined) current.text += data;
    else if (plain !== undefined) current.text += plain.replace(/&(#x?)?(\w+);/g, entity);
    else if (opened !== undefined) {
      const element: OpenElement = { name: opened, text: '', children: [] };
      current.children.push(element);
      if (!isEmpty) open.push(element);
    } else if (closed !== undefined) {
      if (open.length === 1 || current.name !== closed)
        throw new Error(`the response is not XML: </${closed}> closes nothing`);
      open.pop();
    }
  }
  const [first] = root.children;
  if (!first || open.length > 1) throw new Error('the response is not XML: it is incomplete');
  return first;
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
