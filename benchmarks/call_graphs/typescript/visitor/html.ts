import type { Bold, Text, Visitor } from './visitor';

export class HtmlVisitor implements Visitor<string> {
  visitText(text: Text): string {
    return escape(text.value);
  }
  visitBold(bold: Bold): string {
    return `<b>${bold.inner.accept(this)}</b>`;
  }
}

function escape(text: string): string {
  return text.replace('<', '&lt;');
}
