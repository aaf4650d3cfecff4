import { HtmlVisitor } from './html';
import { Bold, Text } from './visitor';

export function render(): string {
  return new Bold(new Text('a')).accept(new HtmlVisitor());
}

render();
