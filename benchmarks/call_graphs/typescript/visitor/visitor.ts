export interface Visitor<R> {
  visitText(text: Text): R;
  visitBold(bold: Bold): R;
}

export interface Element {
  accept<R>(visitor: Visitor<R>): R;
}

export class Text implements Element {
  constructor(readonly value: string) {}
  accept<R>(visitor: Visitor<R>): R {
    return visitor.visitText(this);
  }
}

export class Bold implements Element {
  constructor(readonly inner: Element) {}
  accept<R>(visitor: Visitor<R>): R {
    return visitor.visitBold(this);
  }
}
