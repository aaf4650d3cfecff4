export class Num {
  readonly kind = 'num';
  constructor(readonly value: number) {}
  asNumber(): number {
    return this.value;
  }
}

export class Sum {
  readonly kind = 'sum';
  constructor(readonly left: Expr, readonly right: Expr) {}
  sides(): [Expr, Expr] {
    return [this.left, this.right];
  }
}

export class Neg {
  readonly kind = 'neg';
  constructor(readonly inner: Expr) {}
  operand(): Expr {
    return this.inner;
  }
}

export type Expr = Num | Sum | Neg;
