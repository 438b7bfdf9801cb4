/** Query parameters that a subresource declares, and their values in a request. */

interface QueryParameter {
  /** `strings` may be repeated. */
  readonly type: 'string' | 'integer' | 'boolean' | 'strings';
  readonly description: string;
  /** Default: true. Kubernetes leaves some parameters out of its published schemas. */
  readonly isPublished?: boolean;
}

export type QueryParameters = Readonly<Record<string, QueryParameter>>;

interface TypeOfValue {
  readonly string: string;
  readonly integer: number;
  readonly boolean: boolean;
  readonly strings: readonly string[];
}

/** The values of declared parameters. All of them are optional. */
export type ParameterValues<P extends QueryParameters = QueryParameters> = {
  readonly [N in keyof P]?: TypeOfValue[P[N]['type']];
};
