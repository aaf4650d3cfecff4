import { Exporter } from './exporter';

export class CsvExporter extends Exporter<string[]> {
  protected line(row: string[]): string {
    return row.map(quote).join(',');
  }

  protected override header(): string {
    return 'a,b\n';
  }
}

function quote(cell: string): string {
  return `"${cell}"`;
}
