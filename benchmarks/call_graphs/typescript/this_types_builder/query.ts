export class Query {
  protected parts: string[] = [];

  select(what: string): this {
    return this.push('select', what);
  }

  where(what: string): this {
    return this.push('where', what);
  }

  protected push(...parts: string[]): this {
    this.parts.push(...parts);
    return this;
  }

  build(): string {
    return this.parts.join(' ');
  }
}

export class PagedQuery extends Query {
  limit(rows: number): this {
    return this.push('limit', String(rows));
  }

  override build(): string {
    return super.build() + ';';
  }
}
