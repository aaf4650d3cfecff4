import { CsvExporter } from './csv';

export function exportAll(): string {
  return new CsvExporter().run([['1', '2']]);
}

exportAll();
