/** The text of a kubeconfig with one cluster, as this program writes it. */
import { SERVERS_EXTENSION } from '../client/kubeconfig/server-list.ts';

/** Contents of a kubeconfig; certificates and keys are PEM. */
export interface Access {
  readonly name: string;
  readonly server: string;
  /** URLs of all servers of the cluster; empty where it can have one alone. */
  readonly servers: readonly string[];
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** Reports whether `render` could have written the text, for any cluster: then it is valid without being parsed. */
export function isRendered(text: string): boolean {
  const value = (field: string) => new RegExp(`${field}: (\\S+)$`, 'm').exec(text)?.[1] ?? '';
  return (
    text ===
    layout({
      name: value('current-context'),
      server: value('server'),
      servers: [...text.matchAll(/^ {8}- (\S+)$/gm)].map(([, server = '']) => server),
      ca: value('certificate-authority-data'),
      cert: value('client-certificate-data'),
      key: value('client-key-data'),
    })
  );
}

export function render({ ca, cert, key, ...others }: Access): string {
  return layout({ ...others, ca: base64(ca), cert: base64(cert), key: base64(key) });
}

/** `ca`, `cert` and `key` are Base64. */
function layout({ name, server, servers, ca, cert, key }: Access): string {
  return `apiVersion: v1
kind: Config
clusters:
- cluster:
    certificate-authority-data: ${ca}
${listOf(servers)}    server: ${server}
  name: ${name}
contexts:
- context:
    cluster: ${name}
    user: ${name}
  name: ${name}
current-context: ${name}
preferences: {}
users:
- name: ${name}
  user:
    client-certificate-data: ${cert}
    client-key-data: ${key}
`;
}

function listOf(servers: readonly string[]): string {
  if (servers.length === 0) return '';
  return `    extensions:
    - extension:
        servers:
${servers.map((server) => `        - ${server}\n`).join('')}      name: ${SERVERS_EXTENSION}
`;
}

export function base64(pem: string): string {
  return Buffer.from(pem).toString('base64');
}
