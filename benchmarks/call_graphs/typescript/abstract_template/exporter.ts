export abstract class Exporter<T> {
  run(rows: T[]): string {
    const lines = rows.map((row) => this.line(row));
    return this.header() + lines.join(this.separator());
  }

  protected abstract line(row: T): string;

  protected header(): string {
    return '';
  }

  protected separator(): string {
    return '\n';
  }
}
